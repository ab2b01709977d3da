import type { LoadedConfig, LoadedEntry } from './entry.ts';
import { byCodeUnit } from './names.ts';

export interface ConfigDiff {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** Names of entries that differ between two readings of the file, each list sorted. Space, comments and key order do not count. Pure. */
export function diffConfig(before: LoadedConfig, after: LoadedConfig): ConfigDiff {
  const old = new Map(before.entries.map((entry) => [entry.name, entry]));
  const now = new Map(after.entries.map((entry) => [entry.name, entry]));
  return {
    added: [...now.keys()].filter((name) => !old.has(name)).sort(byCodeUnit),
    changed: [...now]
      .filter(([name, entry]) => differs(old.get(name), entry))
      .map(([name]) => name)
      .sort(byCodeUnit),
    removed: [...old.keys()].filter((name) => !now.has(name)).sort(byCodeUnit),
  };
}

const differs = (before: LoadedEntry | undefined, after: LoadedEntry): boolean =>
  before !== undefined &&
  (before.revision !== after.revision ||
    before.problem?.field !== after.problem?.field ||
    before.problem?.message !== after.problem?.message);

export const isSame = ({ added, changed, removed }: ConfigDiff): boolean =>
  added.length + changed.length + removed.length === 0;
