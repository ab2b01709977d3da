/** Makes the bundle of a server, cleaned of what is secret or private. */
import { maskEntry } from '../config/mask.ts';
import type { SqliteLog } from '../events/sqlite.ts';
import { Problem } from '../http/problem.ts';
import { readCatalog } from '../projections/catalog.projection.ts';
import { bundleOf } from '../replay/bundle.make.ts';
import { type Packed, packBundle, thisMachine } from '../replay/bundle.pack.ts';
import { scrubber } from '../replay/bundle.scrub.ts';
import { midnightOf, unknownWords } from './why.ts';

export interface BundleParts {
  readonly log: SqliteLog;
  readonly nameOf: (server: string, tool: string) => string;
  /** Names of the configured servers, sorted. */
  readonly names: () => readonly string[];
  /** The entry as written; it holds literal secrets. */
  readonly raw: (server: string) => unknown;
  readonly secretsOf: (server: string) => readonly string[];
  readonly version: string;
}

/** Times are ms since the epoch. Throws `unknown-server` when the log knows no fact of it by then. */
export async function bundleAnswer(
  { log, nameOf, names, raw, secretsOf, version }: BundleParts,
  { name, from, to }: { readonly name: string; readonly from: number | undefined; readonly to: number | undefined },
  now: number,
): Promise<Packed> {
  const machine = thisMachine(process.env);
  const entry = raw(name);
  const made = bundleOf(
    {
      log,
      lists: readCatalog(log.db, name),
      nameOf,
      entry: entry === undefined ? undefined : maskEntry(entry),
      versions: { watchkeeper: version, ...machine.versions },
      scrub: scrubber({ ...machine.private, secrets: secretsOf(name) }),
      dayStart: midnightOf,
    },
    { server: name, from, to, now },
  );
  if (made) return packBundle(made.manifest, made.files);
  throw new Problem('unknown-server', unknownWords(name, names(), log.head(`server-${name}`) !== null));
}
