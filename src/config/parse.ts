/** Text of `mcp.json` → the entries in it. One wrong entry never harms another. */

import { readEntry } from './entry.read.ts';
import type { FileProblem, LoadedConfig } from './entry.ts';
import {
  type Node,
  type Property,
  plainValue,
  problemAt,
  propertiesOf,
  propertyOf,
  readTree,
  repeatedKeys,
  withoutMark,
} from './jsonc.ts';
import { byCodeUnit } from './names.ts';
import { nearest } from './nearest.ts';

/** Both are read; when a file holds both, a name in the first one wins. */
export const rootKeys = ['servers', 'mcpServers'] as const;
export type RootKey = (typeof rootKeys)[number];

export type ParsedConfig =
  | {
      readonly ok: true;
      readonly config: LoadedConfig;
      /** Entries as written, placeholders and all, sorted by name. Holds literal secrets: show it only masked. */
      readonly raw: ReadonlyMap<string, unknown>;
    }
  | { readonly ok: false; readonly problem: FileProblem };

/** What a missing file stands for. */
export const emptyConfig: LoadedConfig = { entries: [], warnings: [] };

/** Reads the text of a config file. An empty text is a problem: it is what a file being written looks like. */
export function parseConfig(source: string): ParsedConfig {
  const text = withoutMark(source);
  const tree = readTree(text);
  if (!tree.ok) return tree;
  const { root } = tree;
  if (root.type !== 'object') {
    return { ok: false, problem: problemAt(text, root.offset, 'it must hold an object, `{"servers": {…}}`') };
  }
  for (const key of rootKeys) {
    const value = propertyOf(root, key)?.value;
    if (value !== undefined && value.type !== 'object' && value.type !== 'null') {
      return { ok: false, problem: problemAt(text, value.offset, `\`${key}\` must be an object of servers by name`) };
    }
  }
  const { found, warnings } = collect(root);
  const names = [...found.keys()].sort(byCodeUnit);
  const taken = new Set(names);
  const entries = names.map((name) => {
    const node = found.get(name);
    return node === undefined
      ? readEntry(name, undefined, { taken })
      : readEntry(name, plainValue(node), { repeated: repeatedKeys(node), taken });
  });
  const raw = new Map(names.map((name) => [name, plainValue(found.get(name) ?? root)]));
  return { ok: true, config: { entries, warnings: [...rootWarnings(root), ...warnings] }, raw };
}

/** Entries by name, the one that counts, and what is said about the others. */
function collect(root: Node): { found: ReadonlyMap<string, Node>; warnings: readonly string[] } {
  const found = new Map<string, Node>();
  const warnings: string[] = [];
  for (const key of rootKeys) {
    const here = new Map<string, Node>();
    const value = propertyOf(root, key)?.value;
    for (const { key: name, value: node } of value === undefined ? [] : propertiesOf(value)) {
      if (here.has(name))
        warnings.push(
          `the server ${JSON.stringify(name)} is written more than once under \`${key}\`; the last one counts`,
        );
      here.set(name, node);
    }
    for (const [name, node] of here) {
      if (found.has(name))
        warnings.push(
          `the server ${JSON.stringify(name)} stands under both \`servers\` and \`mcpServers\`; the one under \`servers\` counts`,
        );
      else found.set(name, node);
    }
  }
  return { found, warnings };
}

function rootWarnings(root: Node): string[] {
  const properties: readonly Property[] = propertiesOf(root);
  const keys = new Set(properties.map(({ key }) => key));
  const warnings: string[] = [];
  if (rootKeys.every((key) => keys.has(key)))
    warnings.push(
      'the file has both `servers` and `mcpServers`; both are read, new servers are written under `servers`',
    );
  for (const key of keys) {
    const known = (rootKeys as readonly string[]).includes(key);
    if (properties.filter((property) => property.key === key).length > 1) {
      warnings.push(`the key \`${key}\` is written more than once in the file; the last one counts`);
    }
    if (!known && key !== '$schema') {
      const meant = nearest(key, rootKeys);
      warnings.push(
        `the key \`${key}\` is not known and is ignored${meant === undefined ? '' : `; did you mean \`${meant}\`?`}`,
      );
    }
  }
  return [...new Set(warnings)];
}
