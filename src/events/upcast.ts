/**
 * Old shapes become today's when they are read. A released shape is never edited; its successor gets the next number and
 * a step here: `steps[type][n]` turns the data of schema n into that of schema n + 1.
 */
import { definitionOf } from './catalogue.ts';

type Data = Readonly<Record<string, unknown>>;
type Step = (data: Data) => Data;

/** No shape has been succeeded yet. */
export const steps: Readonly<Record<string, Readonly<Record<number, Step>>>> = {};

export class UnknownShape extends Error {
  override readonly name: string = 'UnknownShape';
}

/** A row of the log that cannot be read: its text is no JSON object, or this version does not know its shape. */
export class UnreadableFact extends UnknownShape {
  override readonly name = 'UnreadableFact';
  constructor(
    readonly row: {
      readonly position: number;
      readonly stream: string;
      readonly version: number;
      readonly type: string;
    },
    cause: unknown,
  ) {
    super(`Position ${row.position}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/**
 * Data of `type` as written under `schema`, in today's shape. Throws `UnknownShape` for a type or number this version
 * does not know: the log was written by a newer one.
 */
export function upcast(type: string, schema: number, data: Data, known = steps): { schema: number; data: Data } {
  const definition = definitionOf(type);
  // Nearly every row is of today's shape.
  if (definition?.schema === schema) return { schema, data };
  if (!definition)
    throw new UnknownShape(`The log holds a "${type}" that this version does not know; a newer version wrote it.`);
  let at = schema;
  let current = data;
  while (at < definition.schema) {
    const step = known[type]?.[at];
    if (!step) throw new UnknownShape(`No step leads from schema ${at} of "${type}" to ${definition.schema}.`);
    current = step(current);
    at += 1;
  }
  if (at > definition.schema) {
    throw new UnknownShape(
      `"${type}" stands in the log with schema ${schema}; this version knows ${definition.schema}. A newer version wrote it.`,
    );
  }
  return { schema: at, data: current };
}
