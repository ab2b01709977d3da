/** The server the daemon is itself: its name, its entry, and what is said to an entry of a file that wants the name. Pure. */
import { canonicalJson } from '../canonical.ts';
import { sha256Hex } from '../hash.ts';
import type { EntryProblem, LoadedEntry, RunEntry } from './entry.ts';
import { limitsOf } from './limits.ts';

export const BUILTIN = 'watchkeeper';
/** The setting that turns it on. */
export const BUILTIN_SETTING = 'self';

const written = sha256Hex(canonicalJson({ builtin: BUILTIN }));

/** What it is run by. Identity and revision are fixed: grants hold for the tools as they are defined. */
export const builtinEntry: RunEntry = {
  name: BUILTIN,
  revision: written,
  identity: written,
  transport: 'builtin',
  entry: {
    transport: 'builtin',
    name: BUILTIN,
    disabled: false,
    lazy: false,
    include: [],
    exclude: [],
    toolPrefix: undefined,
    limits: limitsOf({}),
    repeatCalls: 'unsent',
  },
  problem: null,
  warnings: [],
};

/** What is wrong with an entry of that name while the setting is on; null for every other name. */
export const nameTaken = (name: string): EntryProblem | null =>
  name === BUILTIN
    ? {
        field: 'name',
        message: `the name \`${BUILTIN}\` belongs to the built-in server, which the setting \`${BUILTIN_SETTING}\` turned on; rename the entry, or set \`${BUILTIN_SETTING}\` to false`,
      }
    : null;

/** The entry, or why it cannot be used beside the built-in server. An error it has already stays. */
export function besideBuiltin(loaded: LoadedEntry): LoadedEntry {
  const problem = loaded.problem ?? nameTaken(loaded.name);
  return problem === loaded.problem ? loaded : { ...loaded, transport: null, entry: null, problem };
}
