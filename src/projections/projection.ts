/**
 * Views are disposable: tables written in the transaction of the append, emptied and filled again from position 0 at will.
 * A view sees facts and the envelope, nothing else, and no view reads another.
 */
import type { Database } from 'better-sqlite3';
import type { Fact } from '../events/catalogue.ts';
import type { Recorded } from '../events/envelope.ts';

export type RecordedOf<Type extends Fact['type']> = Recorded<Extract<Fact, { type: Type }>>;

/** What a view does with each kind of fact it cares for. */
export type Handlers = { readonly [Type in Fact['type']]?: (fact: RecordedOf<Type>) => void };

export interface Projection {
  readonly name: string;
  readonly tables: readonly string[];
  /** Prepares its statements once for a database. */
  on(db: Database): Handlers;
  /**
   * The same from an empty table: rows may be kept in memory until they no longer change, or until `finish`.
   * Views whose rows change often have it, so that filling them does not write every change.
   */
  fill?(db: Database): { readonly handlers: Handlers; readonly finish: () => void };
}

/** Applies facts to all views, in order. */
export function projector(db: Database, projections: readonly Projection[]): (facts: readonly Recorded[]) => void {
  return dispatch(projections.map((projection) => projection.on(db)));
}

/** Applies facts to views whose tables are empty; rows are complete after `finish`. */
export function filler(
  db: Database,
  projections: readonly Projection[],
): { readonly apply: (facts: readonly Recorded[]) => void; readonly finish: () => void } {
  const fills = projections.map(
    (projection) => projection.fill?.(db) ?? { handlers: projection.on(db), finish: () => {} },
  );
  return {
    apply: dispatch(fills.map(({ handlers }) => handlers)),
    finish: () => {
      for (const { finish } of fills) finish();
    },
  };
}

function dispatch(all: readonly Handlers[]): (facts: readonly Recorded[]) => void {
  const handlers = new Map<string, ((fact: Recorded) => void)[]>();
  for (const [type, handle] of all.flatMap((some) => Object.entries(some))) {
    handlers.set(type, [...(handlers.get(type) ?? []), handle as (fact: Recorded) => void]);
  }
  return (facts) => {
    for (const fact of facts) {
      for (const handle of handlers.get(fact.type) ?? []) handle(fact);
    }
  };
}
