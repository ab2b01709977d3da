/** Definitions that changed lately, over all servers: what a tool says it does today, and said yesterday. Pure. */
import type { CatalogHistory, ToolStep } from './catalog.history.ts';
import { type DiffLine, toolDiff } from './tool.diff.ts';

export interface DefinitionChange extends Pick<ToolStep, 'position' | 'at' | 'server' | 'tool' | 'name' | 'grant'> {
  readonly change: 'added' | 'changed';
  /** What is different, word by word; empty for a tool that is new. */
  readonly words: readonly DiffLine[];
}

/**
 * Latest first. The tools of a server's first list are no change. `known`: servers that had a list before the window of
 * `history` began.
 */
export function definitionChanges({ changes }: CatalogHistory, known: ReadonlySet<string>): DefinitionChange[] {
  const firstList = new Map<string, number>();
  for (const { server, position } of changes) {
    if (!known.has(server) && !firstList.has(server)) firstList.set(server, position);
  }
  return changes
    .flatMap(({ position, at, server, tool, name, grant, change, parts, before, after }): DefinitionChange[] => {
      const step = { position, at, server, tool, name, grant };
      if (change === 'changed' && before && after) return [{ ...step, change, words: toolDiff(before, after, parts) }];
      return change === 'added' && firstList.get(server) !== position ? [{ ...step, change, words: [] }] : [];
    })
    .reverse();
}
