import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { until } from '../support/wait.ts';
import { behind, ways } from './behind.ts';
import { call, callError, list, textOf } from './opening.ts';

describe.each(ways)('a call over %s, %s', (way, era) => {
  it('passes every kind of block, and what nobody knows, as it came', async () => {
    const { connection } = await behind(way, era);
    const result = {
      content: [
        { type: 'text', text: 'a', annotations: { audience: ['user'], x: 1 }, _meta: { k: [1] } },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
        { type: 'resource_link', uri: 'file:///x', name: 'x' },
        { type: 'resource', resource: { uri: 'a://b', text: 'T' } },
        { type: 'resource', resource: { uri: 'a://c', blob: 'AAAA' } },
        { type: 'hologram', payload: { deep: [1, { two: null }] } },
        { type: 'text' },
      ],
      structuredContent: [1, 'two', null],
      vendor: { x: 1 },
      _meta: { 'vendor/trace': 'abc' },
    };
    const { _meta, ...rest } = await call(connection, 'answer', { result });
    const { _meta: sentMeta, ...sent } = result;
    expect(rest).toMatchObject(sent);
    expect(rest.content).toEqual(sent.content);
    expect(_meta).toMatchObject(sentMeta);
  });

  it('never checks a result against the output schema', async () => {
    const { connection } = await behind(way, era);
    await list(connection);
    expect(await call(connection, 'mismatch')).toMatchObject({ structuredContent: { n: 'not a number' } });
    expect(await call(connection, 'error')).toMatchObject({ isError: true });
    expect(await call(connection, 'error', { structured: true })).toMatchObject({
      isError: true,
      structuredContent: { reason: 'it went wrong' },
    });
    expect((await call(connection, 'empty')).content).toEqual([]);
  });

  it('is rejected with the server\u2019s own error', async () => {
    const { connection } = await behind(way, era);
    const error = await callError(connection, 'rpc_error', { code: -32050, message: 'not today' });
    expect(error).toMatchObject({ kind: 'rejected', message: 'not today', detail: { sent: true, code: -32050 } });
    expect(await callError(connection, 'nobody')).toMatchObject({ kind: 'rejected', detail: { code: -32602 } });
  });

  it('is kept alive by progress, beyond the time without any', async () => {
    const { connection } = await behind(way, era);
    const seen: unknown[] = [];
    const result = await call(
      connection,
      'progress',
      { ms: 900, every: 100 },
      { idleMs: 450, onProgress: (progress) => seen.push(progress) },
    );
    expect(textOf(result)).toMatch(/^done/);
    expect(seen.length).toBeGreaterThan(4);
    expect(seen[0]).toEqual({ progress: 1, message: 'step 1' });
  });

  it('is kept alive by progress that nobody listens to', async () => {
    const { connection } = await behind(way, era);
    expect(textOf(await call(connection, 'progress', { ms: 900, every: 100 }, { idleMs: 450 }))).toMatch(/^done/);
  });

  it('is not kept alive by progress under a token that is not its own', async () => {
    const { connection } = await behind(way, era);
    const error = await callError(connection, 'progress', { ms: 2_000, every: 50, wrongToken: true }, { idleMs: 300 });
    expect(error).toMatchObject({ kind: 'timeout', detail: { limit: 'callTimeoutMs', sent: true } });
  });

  it('ends at the total limit, however much progress there is, and the server is told', async () => {
    const { connection, received } = await behind(way, era);
    const error = await callError(connection, 'endless', { every: 50 }, { idleMs: 5_000, maxMs: 400 });
    expect(error).toMatchObject({ kind: 'timeout', detail: { limit: 'callMaxMs', sent: true } });
    expect(error.message).toContain('callMaxMs');
    if (way === 'pipe' || era === 'legacy') await until(() => received('notifications/cancelled') === 1);
    expect(textOf(await call(connection, 'echo', { text: 'goes on' }))).toBe('goes on');
  });

  it('ends when the caller no longer wants it, and a late answer bothers nobody', async () => {
    const { connection, received } = await behind(way, era);
    const caller = new AbortController();
    const error = callError(connection, 'sleep', { ms: 300 }, { signal: caller.signal });
    await until(() => received('tools/call') === 1);
    caller.abort();
    expect(await error).toMatchObject({ kind: 'cancelled', detail: { sent: true } });
    await pause(400);
    expect(textOf(await call(connection, 'echo', { text: 'x' }))).toBe('x');
  });

  it('is not sent when the caller has gone before', async () => {
    const { connection, received } = await behind(way, era);
    expect(await callError(connection, 'echo', {}, { signal: AbortSignal.abort() })).toMatchObject({
      kind: 'cancelled',
      detail: { sent: false },
    });
    expect(received('tools/call')).toBe(0);
  });

  it('gets its own answer among many', async () => {
    const { connection } = await behind(way, era);
    const texts = Array.from({ length: 50 }, (_, n) => `text ${n}`);
    const results = await Promise.all(texts.map((text) => call(connection, 'echo', { text })));
    expect(results.map(textOf)).toEqual(texts);
  });

  it('takes an answer that is no result for an answer that was lost', async () => {
    const { connection } = await behind(way, era, { answers: { 'tools/call': { replace: 'done' as never } } });
    expect(await callError(connection, 'echo')).toMatchObject({
      kind: 'lost',
      detail: { sent: true, failure: { class: 'protocol' } },
    });
  });
});

it('passes a request for input on as it is', async () => {
  const { connection } = await behind('http', 'modern');
  const result = {
    resultType: 'input_required',
    inputRequests: { a: { method: 'elicitation/create', params: {} } },
    requestState: 'opaque',
  };
  expect(await call(connection, 'answer', { result })).toMatchObject(result);
});

it('answers the server\u2019s own requests meanwhile', async () => {
  const { connection } = await behind('pipe', 'legacy');
  expect(JSON.parse(textOf(await call(connection, 'ask', { method: 'ping' })))).toMatchObject({ result: {} });
  expect(JSON.parse(textOf(await call(connection, 'ask', { method: 'roots/list' })))).toMatchObject({
    error: { code: -32601 },
  });
});
