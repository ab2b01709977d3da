/** What is worth a look before a call is approved. Read only when a call is held: a person's pace. */
import type { Database } from 'better-sqlite3';
import type { Target } from '../actors/call/call.actor.ts';
import { sha256Hex } from '../hash.ts';
import { definitionHash } from '../mcp/tools.ts';
import { calledBefore } from '../projections/calls.projection.ts';
import { recentLists } from '../projections/catalog.projection.ts';
import { exactDuration } from '../replay/words.ts';
import { visibleName } from '../visible.ts';
import type { Directory } from './directory.ts';

/** How long a changed definition is worth a word, in ms. */
export const CHANGED_LATELY_MS = 7 * 24 * 3_600_000;

export interface RemarksParts {
  readonly db: Database;
  readonly directory: Pick<Directory, 'find'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export function remarksWith({ db, directory, now }: RemarksParts): (target: Target) => readonly string[] {
  return (target) => [
    ...oddName(target),
    ...firstCall(db, target),
    ...changedLately(db, target, now()),
    ...hintsOf(directory.find(target.name)?.tool.annotations ?? null),
  ];
}

/** Letters of other alphabets, and what shows nothing, make one name look like another. */
function oddName({ tool }: Target): string[] {
  const shown = visibleName(tool);
  return shown === tool ? [] : [`Its own name is ${shown}: it holds what may look like something else.`];
}

function firstCall(db: Database, { server, tool }: Target): string[] {
  const { called, looked } = calledBefore(db, server, tool);
  if (called) return [];
  return [looked === null ? 'This tool was never called before.' : `Not called among the last ${looked} calls.`];
}

function changedLately(db: Database, { server, tool, definition }: Target, now: number): string[] {
  let since: number | null = null;
  for (const { at, tools } of recentLists(db, server, now - CHANGED_LATELY_MS)) {
    const then = tools.find(({ name }) => name === tool);
    if (then !== undefined && definitionHash(then, sha256Hex) === definition) {
      since = at;
      continue;
    }
    // To a server seen for the first time everything is new, which says nothing.
    if (since === null || tools.length === 0) return [];
    const ago = exactDuration(Math.max(0, now - since));
    return then === undefined
      ? [`The tool is new: first listed ${ago} ago.`]
      : [`Its definition changed ${ago} ago. See how: watchkeeper tools ${server} --changes --from 7d`];
  }
  return [];
}

/** What the server says of the tool. Nothing is decided by it. */
function hintsOf(annotations: Readonly<Record<string, unknown>> | null): string[] {
  if (annotations === null) return [];
  const said = [
    annotations.destructiveHint === true ? 'destructive' : '',
    annotations.openWorldHint === true ? 'reaching outside' : '',
    annotations.readOnlyHint === true ? 'read-only' : '',
  ].filter((word) => word !== '');
  return said.length === 0 ? [] : [`Its server calls it ${said.join(' and ')}; that is the server's own word.`];
}
