/** Opens connections to fake servers and closes them when the test file is over. */
import { expect } from 'vitest';
import type { ResolvedEntry } from '../../src/config/entry.ts';
import type { Failure } from '../../src/events/shapes.ts';
import {
  CallError,
  type CallOptions,
  type Connection,
  ConnectionError,
  type OpenOptions,
  type Verdict,
} from '../../src/mcp/connection.ts';
import { openConnection } from '../../src/mcp/open.ts';
import { atEnd } from '../support/cleanup.ts';
import { type FakeOptions, fakeArgs } from '../support/fixtures.ts';

export const childEnv = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' };

/** A stdio entry that runs a script (the fake by default) with this Node. */
export function scriptEntry(
  args: readonly string[],
  more: Partial<Extract<ResolvedEntry, { transport: 'stdio' }>> = {},
): ResolvedEntry {
  return {
    transport: 'stdio',
    name: 'fake',
    command: process.execPath,
    args,
    env: childEnv,
    cwd: undefined,
    secrets: [],
    ...more,
  };
}

export const fakeEntry = (options: FakeOptions = {}, more: Parameters<typeof scriptEntry>[1] = {}): ResolvedEntry =>
  scriptEntry(fakeArgs(options), more);

/** An entry of a server whose whole program is given as text. */
export const programEntry = (source: string): ResolvedEntry => scriptEntry(['--input-type=module', '-e', source]);

export function httpEntry(
  url: string,
  more: Partial<Extract<ResolvedEntry, { transport: 'streamable-http' | 'sse' }>> = {},
): ResolvedEntry {
  return { transport: 'streamable-http', name: 'fake', explicitType: false, url, headers: {}, secrets: [], ...more };
}

export interface Opened {
  readonly connection: Connection;
  readonly processes: { pid: number; startedAt: number }[];
  readonly warnings: string[];
}

export type Opening = Partial<Omit<OpenOptions, 'entry'>> & { limitMs?: number };

export async function open(entry: ResolvedEntry, { limitMs = 15_000, ...more }: Opening = {}): Promise<Opened> {
  const processes: Opened['processes'] = [];
  const warnings: string[] = [];
  const connection = await openConnection({
    entry,
    verdict: null,
    signal: AbortSignal.timeout(limitMs),
    runId: 'run-1',
    onProcess: async (process) => {
      processes.push(process);
    },
    version: '0.0.0-test',
    onWarning: (warning) => warnings.push(warning),
    ...more,
  });
  atEnd(() => connection.close());
  return { connection, processes, warnings };
}

/** The failure of an opening that must fail. */
export async function openFailure(entry: ResolvedEntry, opening: Opening = {}): Promise<Failure> {
  const error = await open(entry, opening).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ConnectionError);
  return (error as ConnectionError).failure;
}

export const remembered = (era: Verdict['era'], transport: Verdict['transport']): Verdict => ({
  era,
  transport,
  at: 0,
});

export function limits(more: Partial<CallOptions> = {}): CallOptions {
  return { signal: new AbortController().signal, idleMs: 10_000, maxMs: 20_000, ...more };
}

export function call(
  connection: Connection,
  name: string,
  args: Record<string, unknown> = {},
  more: Partial<CallOptions> = {},
) {
  return connection.callTool(name, args, limits(more));
}

/** The error of a call that must fail. */
export async function callError(...args: Parameters<typeof call>): Promise<CallError> {
  const error = await call(...args).then(
    (result) => result,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CallError);
  return error as CallError;
}

export const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? '';

export const list = (connection: Connection, limitMs = 10_000) => connection.listTools(AbortSignal.timeout(limitMs));

export async function listFailure(connection: Connection, limitMs = 10_000): Promise<Failure> {
  const error = await list(connection, limitMs).then(
    (value) => value,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ConnectionError);
  return (error as ConnectionError).failure;
}
