/** Many rows into an empty table: in the order of its key and many a statement, which costs a third of one by one. */
import type { Database } from 'better-sqlite3';

/** Rows kept before they are written. */
const KEPT = 10_000;
/** Rows a statement; SQLite takes 32,766 values at most. */
const TOGETHER = 100;

type Value = string | number | null;

export interface Bulk {
  add(row: readonly Value[]): void;
  /** Writes what is still kept. */
  finish(): void;
}

/** `order` compares rows by the key of the table. */
export function bulkInsert(
  db: Database,
  table: string,
  columns: readonly string[],
  order: (a: readonly Value[], b: readonly Value[]) => number,
): Bulk {
  const values = `(${columns.map(() => '?').join(', ')})`;
  const insert = (count: number) =>
    db.prepare(`insert into ${table} (${columns.join(', ')}) values ${Array(count).fill(values).join(', ')}`);
  const many = insert(TOGETHER);
  const one = insert(1);
  let kept: (readonly Value[])[] = [];

  const write = (): void => {
    const rows = kept.sort(order);
    kept = [];
    const whole = rows.length - (rows.length % TOGETHER);
    for (let at = 0; at < whole; at += TOGETHER) many.run(...rows.slice(at, at + TOGETHER).flat());
    for (const row of rows.slice(whole)) one.run(...row);
  };
  return {
    add(row) {
      kept.push(row);
      if (kept.length >= KEPT) write();
    },
    finish: write,
  };
}
