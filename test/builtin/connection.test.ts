import { describe, expect, it } from 'vitest';
import { builtinConnection } from '../../src/builtin/connection.ts';
import { CallError, type CallOptions, type RawResult } from '../../src/mcp/connection.ts';

const given = (run: () => Promise<RawResult> = async () => ({ content: [] })) =>
  builtinConnection({
    name: 'own',
    version: '1',
    instructions: 'Ask.',
    tools: [{ definition: { name: 'look' }, run }],
  });
const options = (more: Partial<CallOptions> = {}): CallOptions => ({
  signal: new AbortController().signal,
  idleMs: 60_000,
  maxMs: 60_000,
  ...more,
});
const never = () => new Promise<RawResult>(() => {});

async function errorOf(call: Promise<unknown>): Promise<CallError> {
  const error = await call.then(
    () => null,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(CallError);
  return error;
}

describe('A connection inside the daemon', () => {
  it('lists its tools and hands calls on, with the client they are of', async () => {
    const seen: unknown[] = [];
    const connection = builtinConnection({
      name: 'own',
      version: '1',
      instructions: 'Ask.',
      tools: [{ definition: { name: 'look' }, run: async (...all) => ({ content: [], size: seen.push(all) }) }],
    });
    expect((await connection.listTools(new AbortController().signal)).tools).toEqual([{ name: 'look' }]);
    expect(await connection.callTool('look', { at: '1h' }, options({ client: 'cursor' }))).toEqual({
      content: [],
      size: 1,
    });
    expect(seen).toEqual([[{ at: '1h' }, 'cursor']]);
  });

  it('has nothing beside tools, and says so as a server would', async () => {
    const connection = given();
    const { signal } = new AbortController();
    expect(await connection.listAll('prompts', signal)).toEqual({ items: [], warnings: [] });
    expect(await connection.request('completion/complete', {}, options())).toMatchObject({
      kind: 'error',
      error: { code: -32601 },
    });
    expect(await connection.watchResources(['test://a'], signal)).toMatchObject({ refused: [{ uri: 'test://a' }] });
    expect((await errorOf(connection.callTool('other', {}, options()))).detail.code).toBe(-32602);
  });

  it.each<[kind: string, more: Partial<CallOptions>, detail: object]>([
    ['timeout', { idleMs: 5, maxMs: 60_000 }, { limit: 'callTimeoutMs' }],
    ['timeout', { idleMs: 60_000, maxMs: 5 }, { limit: 'callMaxMs' }],
    ['cancelled', { signal: AbortSignal.abort('enough') }, { sent: true }],
  ])('ends a call with %s after %j', async (kind, more, detail) => {
    const error = await errorOf(given(never).callTool('look', {}, options(more)));
    expect(error.kind).toBe(kind);
    expect(error.detail).toMatchObject(detail);
  });

  it('ends what runs when it is closed, and takes nothing after that', async () => {
    const connection = given(never);
    const running = errorOf(connection.callTool('look', {}, options()));
    await connection.close();
    await connection.close();
    expect((await running).kind).toBe('lost');
    expect(await errorOf(connection.callTool('look', {}, options()))).toMatchObject({
      kind: 'not-sent',
      detail: { sent: false },
    });
  });

  it('makes a mistake of the daemon an answer, and no end of the daemon', async () => {
    const error = await errorOf(given(async () => Promise.reject(new Error('no'))).callTool('look', {}, options()));
    expect(error).toMatchObject({ kind: 'rejected', detail: { code: -32603 } });
  });
});
