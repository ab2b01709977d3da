/** What each entry of the allowlist grants, and what it is bound to. */
import type { Database } from 'better-sqlite3';
import type { Projection } from './projection.ts';

export interface GrantRow {
  readonly entry: string;
  readonly state: 'unbound' | 'bound' | 'suspended';
  readonly identity: string | null;
  readonly definition: string | null;
  readonly origin: string;
  readonly grantedBy: string;
  readonly at: number;
  readonly position: number;
}

export const allowlist: Projection = {
  name: 'allowlist',
  tables: ['grants'],
  on(db) {
    const add = db.prepare("insert or replace into grants values (?, 'unbound', null, null, ?, ?, ?, ?)");
    const remove = db.prepare('delete from grants where entry = ?');
    const bind = db.prepare(
      "update grants set state = 'bound', identity = ?, definition = ?, position = ? where entry = ?",
    );
    const suspend = db.prepare("update grants set state = 'suspended', position = ? where entry = ?");
    return {
      GrantAdded: ({ data, at, position }) => void add.run(data.entry, data.origin, data.by, at, position),
      GrantRemoved: ({ data }) => void remove.run(data.entry),
      GrantBound: ({ data, position }) =>
        void bind.run(data.binding.identity, data.binding.definition, position, data.entry),
      GrantSuspended: ({ data, position }) => void suspend.run(position, data.entry),
    };
  },
};

/** Sorted by entry. */
export function readGrants(db: Database): GrantRow[] {
  return db
    .prepare(
      'select entry, state, identity, definition, origin, granted_by as grantedBy, at, position from grants order by entry',
    )
    .all() as GrantRow[];
}
