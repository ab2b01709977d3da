import { readFileSync } from 'node:fs';
import type { EntryProblem, ResolvedEntry, ServerEntry } from '../config/entry.ts';
import { lookupIn } from '../config/expand.ts';
import { resolveEntry } from '../config/resolve.ts';
import { parseVariables } from '../config/variables.ts';

/** Replaces placeholders at each start of an entry: from the environment, then from the file as it is at that moment. */
export function resolveWith(variablesFile: string): (entry: ServerEntry) => ResolvedEntry | EntryProblem {
  // Read once: each look at `process.env` asks the system, and a start of fifty servers looks at all of it fifty times.
  const environment = { ...process.env };
  return (entry) => {
    const lookup = lookupIn(process.env, parseVariables(textOf(variablesFile)).values);
    const resolution = resolveEntry(entry, { lookup, environment, platform: process.platform });
    return resolution.ok ? resolution.entry : resolution.problem;
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // No file, no variables; one that cannot be read is warned about where it is watched.
    return '';
  }
}
