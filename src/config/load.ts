import type { FileProblem, LoadedConfig } from './entry.ts';
import { emptyConfig, parseConfig } from './parse.ts';
import { type FileContent, read } from './watch.ts';

/** One reading of the config file. */
export type Reading =
  | {
      readonly kind: 'loaded';
      readonly config: LoadedConfig;
      /** Entries as written; holds literal secrets. */
      readonly raw: ReadonlyMap<string, unknown>;
      /** false: there is no such file, which means no servers. */
      readonly exists: boolean;
    }
  | { readonly kind: 'broken'; readonly problem: FileProblem };

/** What a content of the config file means. Never throws. */
export function readingOf(content: FileContent): Reading {
  if (content.kind === 'missing') return { kind: 'loaded', config: emptyConfig, raw: new Map(), exists: false };
  if (content.kind === 'unusable') {
    return { kind: 'broken', problem: { message: content.message, line: null, column: null } };
  }
  const parsed = parseConfig(content.text);
  if (!parsed.ok) return { kind: 'broken', problem: parsed.problem };
  return { kind: 'loaded', config: parsed.config, raw: parsed.raw, exists: true };
}

/** Reads the config file. Never rejects and never writes. */
export const loadConfig = async (file: string): Promise<Reading> => readingOf(await read(file));

/** For the watch: a text that can be read as a whole. */
export const isWholeConfig = (text: string): boolean => parseConfig(text).ok;
