/** Paging of lists the hub makes itself. A cursor says after which entry to go on, so it outlives changes of the list. Pure. */
import { codes, RpcFailure } from './rpc.ts';

export interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly nextCursor?: string;
}

const MARK = 'after:';

/** `entries` ascend by their key (code unit). Throws for a cursor that was not made here. */
export function pageOf<Entry>(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => string,
  cursor: unknown,
  size: number,
): Page<Entry> {
  const after = cursor === undefined || cursor === null ? null : readCursor(cursor);
  const rest = after === null ? entries : entries.filter((entry) => keyOf(entry) > after);
  if (rest.length <= size) return { entries: rest };
  const page = rest.slice(0, size);
  const last = page.at(-1);
  return last === undefined ? { entries: rest } : { entries: page, nextCursor: makeCursor(keyOf(last)) };
}

const makeCursor = (key: string): string => Buffer.from(`${MARK}${key}`, 'utf8').toString('base64url');

function readCursor(cursor: unknown): string {
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString('utf8') : '';
  if (!text.startsWith(MARK) || makeCursor(text.slice(MARK.length)) !== cursor)
    throw new RpcFailure(codes.invalidParams, 'Invalid params: the cursor is not one of this list; begin without one.');
  return text.slice(MARK.length);
}
