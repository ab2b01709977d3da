/**
 * What a recording consists of: a head, then one line of JSON for each thing that was seen, masked already. The same
 * shapes are written and read; a reader skips what it does not know.
 */

/** Number of the format of recordings; grows when a reader of before would misread them. */
export const RECORDING_FORMAT = 1;

/** The first line of every file. */
export interface Head {
  readonly recording: typeof RECORDING_FORMAT;
  readonly server: string;
  /** Of watchkeeper. */
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface Agreed {
  readonly era: 'legacy' | 'modern';
  readonly protocolVersion: string;
  readonly serverInfo: Readonly<Record<string, unknown>> | null;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string | null;
  readonly session: boolean;
}

/** A JSON-RPC message. `cut`: it was larger than is kept (bytes), and only what routes it is left. */
export interface RecordedMessage {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly cut?: number;
}

/** `x` numbers the HTTP exchanges of a life. */
export type Sight =
  /** A channel was opened. `joined`: it was open when the recording began; `again`: it goes on in this file. */
  | {
      readonly is: 'opened';
      readonly transport: 'stdio' | 'streamable-http' | 'sse';
      readonly joined?: true;
      readonly again?: true;
    }
  /** What the server had answered before this file or this recording began. */
  | {
      readonly is: 'known';
      readonly method: string;
      readonly params?: Readonly<Record<string, unknown>>;
      readonly result: unknown;
    }
  | ({ readonly is: 'agreed' } & Agreed)
  | { readonly is: 'process'; readonly pid: number }
  | { readonly is: 'out'; readonly message: RecordedMessage; readonly x?: number }
  | { readonly is: 'in'; readonly message: RecordedMessage; readonly x?: number }
  | { readonly is: 'stdout'; readonly text: string; readonly partial?: true }
  | { readonly is: 'stderr'; readonly text: string }
  | { readonly is: 'pipe'; readonly pipe: 'stdin' | 'stdout' }
  | { readonly is: 'exit'; readonly exitCode: number | null; readonly signal: string | null }
  | { readonly is: 'push'; readonly x: number }
  | {
      readonly is: 'status';
      readonly x: number;
      readonly status: number;
      readonly type?: string;
      /** A label: the id itself is not kept. */
      readonly session?: string;
      readonly text?: string;
      readonly challenge?: string;
      readonly retryAfterMs?: number;
      readonly location?: string;
    }
  | { readonly is: 'broken'; readonly x: number; readonly code: string }
  | { readonly is: 'ended'; readonly x: number; readonly code: string | null }
  | { readonly is: 'body'; readonly x: number; readonly text: string }
  | { readonly is: 'closed' }
  /** So many things were left out, because they came faster than they could be written. */
  | { readonly is: 'missed'; readonly count: number };

/** `at`: milliseconds since the epoch, never going back within a life. `life`: which channel it was seen on. */
export type Line = { readonly at: number; readonly life: string } & Sight;

/** Whether a parsed line is one of a recording. Its inside is the word of the daemon that wrote it. */
export function isLine(value: unknown): value is Line {
  if (typeof value !== 'object' || value === null) return false;
  const { at, life, is } = value as Readonly<Record<string, unknown>>;
  return typeof at === 'number' && typeof life === 'string' && typeof is === 'string';
}
