import type { z } from 'zod';

/** The kinds of stream a fact can belong to; the stream's full name adds what it is about, e.g. `server-github`. */
export type StreamKind = 'server' | 'call' | 'allowlist' | 'config' | 'daemon' | 'logins';

/** One kind of fact: its name, the number of its shape, the shape itself and one sentence for the published catalogue. */
export interface FactDefinition<Shape extends z.ZodType = z.ZodType> {
  readonly stream: StreamKind;
  /** Number of the shape. A released shape is never edited: a new one gets the next number and an upcaster. */
  readonly schema: number;
  readonly about: string;
  readonly data: Shape;
}

export type FactDefinitions = Readonly<Record<string, FactDefinition>>;

/** The facts of a set of definitions, as a union of `{type, data}`. */
export type FactOf<Definitions extends FactDefinitions> = {
  readonly [Type in keyof Definitions & string]: {
    readonly type: Type;
    readonly data: Readonly<z.infer<Definitions[Type]['data']>>;
  };
}[keyof Definitions & string];

export function fact<Shape extends z.ZodType>(definition: FactDefinition<Shape>): FactDefinition<Shape> {
  return definition;
}
