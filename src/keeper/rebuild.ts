import type { Recorded } from '../events/envelope.ts';
import type { SqliteLog } from '../events/sqlite.ts';
import { rebuildViews } from '../projections/views.ts';

const PAGE = 1000;

/** Every page of the log, oldest first. */
export function* pagesOf(log: Pick<SqliteLog, 'read'>): Generator<readonly Recorded[]> {
  for (let after = 0; ; ) {
    const page = log.read({ after, limit: PAGE });
    const last = page.at(-1);
    if (!last) return;
    after = last.position;
    yield page;
  }
}

/** Empties the views and fills them again from the log. */
export async function rebuildFromLog(
  log: Pick<SqliteLog, 'read' | 'db'>,
): Promise<{ ok: true; facts: number; tookMs: number }> {
  const began = performance.now();
  const facts = rebuildViews(log.db, pagesOf(log));
  return { ok: true, facts, tookMs: Math.round(performance.now() - began) };
}
