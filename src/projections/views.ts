/** All views, and how they are filled again from the log. */
import type { Database } from 'better-sqlite3';
import type { Recorded } from '../events/envelope.ts';
import { allowlist } from './allowlist.projection.ts';
import { calls } from './calls.projection.ts';
import { catalog } from './catalog.projection.ts';
import { history } from './history.projection.ts';
import { filler, type Projection } from './projection.ts';
import { registry } from './registry.projection.ts';
import { status } from './status.projection.ts';

export const views: readonly Projection[] = [registry, status, history, allowlist, calls, catalog];

export const viewTables: readonly string[] = views.flatMap((view) => view.tables);

/** Empties every view and fills it again, in one transaction: readers see the old rows until it is done. */
export function rebuildViews(db: Database, pages: Iterable<readonly Recorded[]>): number {
  const { apply, finish } = filler(db, views);
  let facts = 0;
  db.transaction(() => {
    for (const table of viewTables) db.prepare(`delete from ${table}`).run();
    for (const page of pages) {
      apply(page);
      facts += page.length;
    }
    finish();
  }).immediate();
  return facts;
}
