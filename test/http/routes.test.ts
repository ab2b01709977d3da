import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { toolsHistory } from '../../src/http/contract.catalog.ts';
import { clients } from '../../src/http/contract.clients.ts';
import { doctor } from '../../src/http/contract.doctor.ts';
import { ledgerVerified } from '../../src/http/contract.ledger.ts';
import * as taped from '../../src/http/contract.recordings.ts';
import { stderr } from '../../src/http/contract.stderr.ts';
import { summary } from '../../src/http/contract.summary.ts';
import { suspensions, toolChanges } from '../../src/http/contract.trust.ts';
import * as contract from '../../src/http/contract.ts';
import { why } from '../../src/http/contract.why.ts';
import { Problem } from '../../src/http/problem.ts';
import { recorded, time } from './fake.keeper.ts';
import { givenApp, signedIn } from './given.app.ts';

const json = { ...signedIn, 'content-type': 'application/json' };

async function ask(method: 'GET' | 'POST', url: string, body?: unknown, headers: Record<string, string> = {}) {
  const { app, keeper, errors } = await givenApp();
  const response = await app.inject({
    method,
    url,
    headers: { ...(body === undefined ? signedIn : json), ...headers },
    ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { response, keeper, errors, asked: keeper.asked };
}

describe('Every route answers in the shape of the contract', () => {
  it.each<['GET' | 'POST', string, unknown, z.ZodType, unknown[] | null]>([
    ['GET', '/health', undefined, contract.health, ['health', true]],
    ['GET', '/v1/mcp', undefined, contract.config, null],
    [
      'POST',
      '/v1/mcp',
      { name: 'a', server: { command: 'x', odd: 1 } },
      contract.done,
      ['addServer', 'a', { command: 'x', odd: 1 }],
    ],
    ['POST', '/v1/mcp/remove', { name: 'a' }, contract.done, ['removeServer', 'a']],
    ['POST', '/v1/mcp/enable', { name: 'a' }, contract.done, ['setDisabled', 'a', false]],
    ['POST', '/v1/mcp/disable', { name: 'a' }, contract.done, ['setDisabled', 'a', true]],
    ['POST', '/v1/mcp/test', { server: { url: 'x' } }, contract.testResult, ['testServer', { url: 'x' }, undefined]],
    [
      'POST',
      '/v1/mcp/test',
      { server: { url: 'x' }, name: 'a' },
      contract.testResult,
      ['testServer', { url: 'x' }, 'a'],
    ],
    ['GET', '/v1/mcp/status', undefined, contract.status, null],
    ['GET', '/v1/mcp/status?at=12', undefined, contract.status, ['statusAt', { position: 12 }]],
    ['GET', `/v1/mcp/status?at=${time}`, undefined, contract.status, ['statusAt', { time: Date.parse(time) }]],
    ['GET', '/v1/mcp/record', undefined, taped.recordings, ['recordings']],
    ['POST', '/v1/mcp/record', { name: 'a', on: true }, taped.recordAnswer, ['record', 'a', true, false]],
    [
      'POST',
      '/v1/mcp/record',
      { name: 'a', on: false, delete: true },
      taped.recordAnswer,
      ['record', 'a', false, true],
    ],
    ['POST', '/v1/mcp/fixture', { name: 'a' }, taped.fixtureAnswer, ['fixture', 'a', undefined, undefined]],
    [
      'POST',
      '/v1/mcp/fixture',
      { name: 'a', from: '2026-03-01', to: '2026-03-02' },
      taped.fixtureAnswer,
      ['fixture', 'a', Date.UTC(2026, 2, 1), Date.UTC(2026, 2, 2)],
    ],
    ['POST', '/v1/mcp/reconnect', undefined, contract.reconnect, ['reconnect', undefined, undefined]],
    ['POST', '/v1/mcp/reconnect', {}, contract.reconnect, ['reconnect', undefined, undefined]],
    ['POST', '/v1/mcp/reconnect', '', contract.reconnect, ['reconnect', undefined, undefined]],
    ['POST', '/v1/mcp/reconnect', { name: 'a', timeout_ms: 5 }, contract.reconnect, ['reconnect', 'a', 5]],
    ['GET', '/v1/mcp/tools', undefined, contract.tools, ['tools', { server: undefined, at: undefined }]],
    ['GET', '/v1/mcp/tools?server=a&at=3', undefined, contract.tools, ['tools', { server: 'a', at: { position: 3 } }]],
    ['GET', '/v1/mcp/tools?name=a', undefined, contract.tools, ['tools', { server: 'a', at: undefined }]],
    ['GET', '/v1/mcp/tools?name=a&server=a', undefined, contract.tools, ['tools', { server: 'a', at: undefined }]],
    ['GET', '/v1/mcp/tools/history?name=a', undefined, toolsHistory, ['toolsHistory', { server: 'a' }]],
    [
      'GET',
      '/v1/mcp/tools/history?from=3&to=2026-03-01',
      undefined,
      toolsHistory,
      ['toolsHistory', { from: { position: 3 }, to: { time: Date.UTC(2026, 2, 1) } }],
    ],
    ['GET', '/v1/mcp/stderr?name=a', undefined, stderr, ['stderr', 'a']],
    ['GET', '/v1/mcp/why?name=a&at=3', undefined, why, ['why', { name: 'a', at: { position: 3 } }]],
    ['GET', '/v1/clients', undefined, clients, ['clients']],
    ['GET', '/v1/mcp/why?server=a', undefined, why, ['why', { name: 'a' }]],
    ['GET', '/v1/mcp/instructions', undefined, contract.instructions, null],
    [
      'GET',
      '/v1/mcp/history?server=a',
      undefined,
      contract.history,
      ['history', { name: 'a', from: undefined, to: undefined }],
    ],
    [
      'GET',
      '/v1/mcp/history?name=a&from=2026-03-01&to=2026-03-02',
      undefined,
      contract.history,
      ['history', { name: 'a', from: Date.UTC(2026, 2, 1), to: Date.UTC(2026, 2, 2) }],
    ],
    [
      'GET',
      '/v1/mcp/history/summary?name=a&from=2026-03-01',
      undefined,
      summary,
      ['summary', { name: 'a', from: Date.UTC(2026, 2, 1), to: undefined }],
    ],
    ['GET', '/v1/mcp/doctor', undefined, doctor, ['doctor', undefined]],
    ['GET', '/v1/mcp/doctor?server=memory', undefined, doctor, ['doctor', 'memory']],
    ['GET', '/v1/mcp/history/summary', undefined, summary, ['summary', { name: undefined }]],
    ['GET', '/v1/allowlist', undefined, contract.allowlist, ['allowlist', undefined]],
    ['GET', '/v1/allowlist?prefix=mcp__a__', undefined, contract.allowlist, ['allowlist', 'mcp__a__']],
    [
      'POST',
      '/v1/allowlist',
      { tool: { prefix: 'mcp__a__', entries: ['mcp__a__b'] } },
      contract.allowlistReplaced,
      ['replaceGrants', 'mcp__a__', ['mcp__a__b'], 'main'],
    ],
    ['GET', '/v1/mcp/calls', undefined, contract.calls, ['calls', { limit: 100 }]],
    [
      'GET',
      '/v1/mcp/calls?state=held&name=a&limit=2&before=c9',
      undefined,
      contract.calls,
      ['calls', { state: 'held', server: 'a', limit: 2, before: 'c9' }],
    ],
    ['GET', '/v1/mcp/calls?open=true', undefined, contract.calls, ['calls', { open: true, limit: 100 }]],
    [
      'GET',
      '/v1/mcp/calls?outcome=denied&client=codex',
      undefined,
      contract.calls,
      ['calls', { outcome: 'denied', client: 'codex', limit: 100 }],
    ],
    ['GET', '/v1/mcp/calls/c1', undefined, contract.call, null],
    [
      'POST',
      '/v1/mcp/calls/c1/close',
      { finding: 'ran', note: 'It is there.' },
      contract.call,
      ['closeCall', 'c1', { finding: 'ran', note: 'It is there.' }, 'main'],
    ],
    ['GET', '/v1/ledger/verify?expect=h', undefined, ledgerVerified, ['verifyLedger', 'h']],
    ['GET', '/v1/allowlist/suspended', undefined, suspensions, ['suspensions']],
    [
      'GET',
      '/v1/mcp/tools/changes?name=a&from=3',
      undefined,
      toolChanges,
      ['toolChanges', { server: 'a', from: { position: 3 } }],
    ],
    ['POST', '/v1/mcp/calls/c1/approve', undefined, contract.call, ['approve', 'c1', 'once', 'main']],
    ['POST', '/v1/mcp/calls/c1/approve', { remember: 'server' }, contract.call, ['approve', 'c1', 'server', 'main']],
    ['POST', '/v1/mcp/calls/c1/deny', undefined, contract.call, ['deny', 'c1', undefined, 'main']],
    ['POST', '/v1/mcp/calls/c1/deny', { reason: 'no' }, contract.call, ['deny', 'c1', 'no', 'main']],
    ['GET', '/v1/events', undefined, contract.events, ['events', { after: 0, limit: 100 }]],
    [
      'GET',
      '/v1/events?after=3&stream=server-a&type=SessionLost&limit=1000',
      undefined,
      contract.events,
      ['events', { after: 3, stream: 'server-a', type: 'SessionLost', limit: 1000 }],
    ],
    ['POST', '/v1/rebuild', undefined, contract.rebuild, null],
    ['POST', '/v1/shutdown', undefined, contract.done, ['shutdown']],
  ])('%s %s %j', async (method, url, body, shape, expected) => {
    const { response, asked } = await ask(method, url, body);
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    shape.parse(response.json());
    if (expected !== null) expect(asked.at(-1)).toEqual(expected);
  });
});

describe('A bundle', () => {
  it('is sent as a file, byte for byte', async () => {
    const { response, asked } = await ask('GET', '/v1/mcp/bundle?server=memory&from=2026-03-01&to=2026-03-02');
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': 'application/gzip',
      'content-disposition': 'attachment; filename="watchkeeper-memory-20260301T120000Z.tar.gz"',
      'content-length': '4',
    });
    expect([...response.rawPayload]).toEqual([31, 139, 0, 255]);
    expect(asked).toEqual([['bundle', { name: 'memory', from: Date.UTC(2026, 2, 1), to: Date.UTC(2026, 2, 2) }]]);
  });

  it('of nobody is a problem', async () => {
    const { response } = await ask('GET', '/v1/mcp/bundle?name=nobody');
    expect(response.statusCode).toBe(404);
    expect(response.json().code).toBe('unknown-server');
  });
});

describe('What does not fit a route is refused and names the place', () => {
  it.each<['GET' | 'POST', string, unknown, RegExp]>([
    ['POST', '/v1/mcp', {}, /body: name: .*; server: /],
    ['POST', '/v1/mcp', { name: '', server: {} }, /name/],
    ['POST', '/v1/mcp', { name: 'a', server: [] }, /server/],
    ['POST', '/v1/mcp', { name: 'a', server: {}, extra: 1 }, /"extra"/],
    ['POST', '/v1/mcp', undefined, /body/],
    ['POST', '/v1/mcp', 'null', /body/],
    ['POST', '/v1/mcp', '[]', /body/],
    ['POST', '/v1/mcp', '{"name": "a", ', /not valid JSON/],
    ['POST', '/v1/mcp', 'name=a', /not valid JSON/],
    ['POST', '/v1/mcp/reconnect', { server: 'a' }, /"server"/],
    ['POST', '/v1/mcp/reconnect', { timeout_ms: 0 }, /timeout_ms/],
    ['POST', '/v1/mcp/reconnect', { timeout_ms: 2 ** 31 }, /timeout_ms/],
    ['POST', '/v1/mcp/call', { arguments: {} }, /tool/],
    ['POST', '/v1/mcp/call', { tool: 'x', arguments: [] }, /arguments/],
    ['POST', '/v1/mcp/call', { tool: 'x', arguments: null }, /arguments/],
    ['POST', '/v1/mcp/call', { tool: 'x', permission_mode: 'yolo' }, /permission_mode/],
    ['POST', '/v1/mcp/call', { tool: 'x', timeout: 5 }, /"timeout"/],
    ['POST', '/v1/mcp/call', { tool: 'x', allow_all: true, permission_mode: 'ask' }, /contradicts/],
    ['POST', '/v1/mcp/calls/c1/approve', { remember: 'forever' }, /remember/],
    ['POST', '/v1/allowlist', { tool: { prefix: 'mcp__a__', entries: 'x' } }, /tool\.entries/],
    ['POST', '/v1/mcp/record', { name: 'a' }, /on/],
    ['POST', '/v1/mcp/record', { name: 'a', on: true, delete: true }, /`delete` goes with/],
    ['POST', '/v1/mcp/fixture', { name: 'a', from: 'yesterday' }, /`from` is no time/],
    ['POST', '/v1/mcp/fixture', { name: 'a', from: '2026-03-02', to: '2026-03-01' }, /`from` is after `to`/],
    ['GET', '/v1/mcp/status?at=yesterday', undefined, /query: at: Invalid moment/],
    ['GET', '/v1/mcp/status?at=2026-02-30', undefined, /at/],
    ['GET', '/v1/mcp/status?at=1&at=2', undefined, /at/],
    ['GET', '/v1/mcp/status?att=1', undefined, /"att"/],
    ['GET', '/v1/mcp/tools?at=-1', undefined, /at/],
    ['GET', '/v1/mcp/tools?name=a&server=b', undefined, /mean the same/],
    ['GET', '/v1/mcp/tools?server=', undefined, /server/],
    ['GET', '/v1/mcp/history?from=12', undefined, /from/],
    ['GET', '/v1/mcp/history?from=2026-03-02&to=2026-03-01', undefined, /`from` is after `to`/],
    ['GET', '/v1/mcp/why', undefined, /`name` is missing/],
    ['GET', '/v1/mcp/stderr', undefined, /`name` is missing/],
    ['GET', '/v1/mcp/why?name=a&at=soon', undefined, /at/],
    ['GET', '/v1/mcp/tools/history?from=soon', undefined, /from/],
    ['GET', '/v1/mcp/bundle', undefined, /`name` is missing/],
    ['GET', '/v1/mcp/bundle?name=a&from=2026-03-02&to=2026-03-01', undefined, /`from` is after `to`/],
    ['GET', '/v1/mcp/history/summary?from=2026-03-02&to=2026-03-01', undefined, /`from` is after `to`/],
    ['GET', '/v1/mcp/calls?state=waiting', undefined, /state/],
    ['GET', '/v1/mcp/calls?limit=0', undefined, /limit/],
    ['GET', '/v1/events?limit=1001', undefined, /limit/],
    ['GET', '/v1/events?limit=ten', undefined, /limit/],
    ['GET', '/v1/events?after=-1', undefined, /after/],
    ['GET', '/v1/events?after=1.5', undefined, /after/],
  ])('%s %s %j', async (method, url, body, detail) => {
    const { response, asked } = await ask(method, url, body);
    const problem = contract.problem.parse(response.json());
    expect(problem).toMatchObject({ code: 'invalid-request', status: 400 });
    expect(response.statusCode).toBe(400);
    expect(problem.detail).toMatch(detail);
    expect(asked).toEqual([]);
  });

  it('without repeating what was sent', async () => {
    for (const body of [
      '{"name": "secret-value',
      JSON.stringify({ name: { a: 'secret-value' }, server: 'secret-value' }),
    ])
      expect((await ask('POST', '/v1/mcp', body)).response.body).not.toContain('secret-value');
  });

  it('when the body is larger than 4 MiB', async () => {
    const { response } = await ask('POST', '/v1/mcp/call', {
      tool: 'x',
      arguments: { a: 'x'.repeat(4 * 1024 * 1024) },
    });
    expect(response.statusCode).toBe(413);
    expect(response.json().code).toBe('body-too-large');
  });
});

describe('What the daemon refuses is a problem', () => {
  it.each([
    ['/v1/mcp/tools?server=nobody', 404, 'unknown-server'],
    ['/v1/mcp/why?name=nobody', 404, 'unknown-server'],
    ['/v1/mcp/stderr?name=nobody', 404, 'unknown-server'],
    ['/v1/mcp/calls/c2', 404, 'unknown-call'],
    ['/v1/nothing', 404, 'not-found'],
    ['/v1/mcp/', 404, 'not-found'],
    ['/%zz', 404, 'not-found'],
    [`/v1/mcp/calls/${'x'.repeat(300)}`, 404, 'not-found'],
  ])('GET %s', async (url, status, code) => {
    const { response } = await ask('GET', url);
    expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(contract.problem.parse(response.json())).toMatchObject({ status, code });
    expect(response.statusCode).toBe(status);
  });

  it('when a call has already been decided', async () => {
    const { response } = await ask('POST', '/v1/mcp/calls/c1/cancel', {});
    expect(response.statusCode).toBe(409);
    expect(response.json()).toMatchObject({ code: 'call-not-held', call: 'c1' });
  });

  it.each([
    ['PUT', '/v1/mcp', 'GET, HEAD, POST'],
    ['DELETE', '/v1/mcp/calls/c1', 'GET, HEAD'],
    ['POST', '/health', 'GET, HEAD'],
    ['PATCH', '/v1/mcp/call', 'POST'],
  ])('when the method is wrong: %s %s', async (method, url, allow) => {
    const { app } = await givenApp();
    const response = await app.inject({ method: method as 'PUT', url, headers: signedIn });
    expect(response.statusCode).toBe(405);
    expect(response.headers.allow).toBe(allow);
    expect(response.json().code).toBe('method-not-allowed');
  });

  it('and a mistake of our own is logged and not told', async () => {
    const { app, keeper, errors } = await givenApp();
    keeper.broken = true;
    const response = await app.inject({ url: '/v1/events', headers: signedIn });
    expect(response.statusCode).toBe(500);
    expect(response.json().code).toBe('internal');
    expect(response.body).not.toContain('secret-of-the-disk');
    expect(errors).toHaveLength(1);
  });
});

describe('A tool call', () => {
  const body = { tool: 'mcp__memory__read_graph' };

  it('hands on arguments as they came, whatever their names', async () => {
    const args = '{"a":{"b":[1,null,"ü"]},"__proto__":{"x":1},"constructor":{"prototype":2},"":0,"n":1e400}';
    const { response, keeper } = await ask('POST', '/v1/mcp/call', `{"tool":"t","arguments":${args}}`);
    expect(response.statusCode).toBe(200);
    const input = keeper.asked[0]?.[1] as { arguments: object };
    expect(JSON.stringify(input.arguments)).toBe(JSON.stringify(JSON.parse(args)));
  });

  it('answers with the result as it is, the call and the outcome beside', async () => {
    const { response } = await ask('POST', '/v1/mcp/call', body);
    expect(response.json()).toEqual({
      content: [{ type: 'text', text: 'done', extra: 1 }],
      call: 'c1',
      outcome: 'succeeded',
      odd: true,
    });
    contract.callResult.parse(response.json());
  });

  it('waits for a person and asks for confirmation unless the request says otherwise', async () => {
    const { keeper } = await ask('POST', '/v1/mcp/call', body);
    expect(keeper.asked[0]?.[1]).toMatchObject({
      tool: body.tool,
      arguments: {},
      mode: 'ask',
      wait: true,
      timeoutMs: undefined,
      caller: { client: 'main', door: 'http' },
    });
  });

  it('carries mode, time limit and whether to wait', async () => {
    const { keeper } = await ask('POST', '/v1/mcp/call', { ...body, allow_all: true, timeout_ms: 9, wait: false });
    expect(keeper.asked[0]?.[1]).toMatchObject({ mode: 'allow-all', wait: false, timeoutMs: 9 });
  });

  it('takes the mode from the header', async () => {
    const { keeper } = await ask('POST', '/v1/mcp/call', body, { 'watchkeeper-permission-mode': 'deny' });
    expect(keeper.asked[0]?.[1]).toMatchObject({ mode: 'deny' });
  });

  it('that is still held is accepted and not done', async () => {
    const { app, keeper } = await givenApp();
    keeper.onCall = async () => ({ kind: 'held', body: { call: 'c1', state: 'held', expiresAt: time } });
    const response = await app.inject({
      method: 'POST',
      url: '/v1/mcp/call',
      headers: json,
      payload: JSON.stringify(body),
    });
    expect(response.statusCode).toBe(202);
    expect(contract.callHeld.parse(response.json())).toEqual({ call: 'c1', state: 'held', expiresAt: time });
  });

  it.each([
    ['call-refused', 'refused', 403],
    ['call-denied', 'denied', 403],
    ['call-expired', 'expired', 403],
    ['unknown-tool', 'failed', 404],
    ['server-not-connected', 'failed', 503],
    ['server-lost', 'unknown', 502],
    ['call-timeout', 'unknown', 504],
  ] as const)('that ends as %s is a problem with call and outcome', async (code, outcome, status) => {
    const { app, keeper } = await givenApp();
    keeper.onCall = async () => {
      throw new Problem(code, 'It did not end well.', { call: 'c1', outcome });
    };
    const response = await app.inject({
      method: 'POST',
      url: '/v1/mcp/call',
      headers: json,
      payload: JSON.stringify(body),
    });
    expect(response.statusCode).toBe(status);
    expect(contract.problem.parse(response.json())).toMatchObject({ code, call: 'c1', outcome });
  });
});

describe('Health', () => {
  it.each([
    ['without a token from this machine', '127.0.0.1', {}, true],
    ['without a token over IPv6', '::1', { host: '[::1]:17987' }, true],
    ['without a token over mapped IPv4', '::ffff:127.0.0.1', {}, true],
    ['without a token from another machine', '192.168.1.9', { host: 'box.lan:17987' }, false],
    ['without a token through a proxy on this machine', '127.0.0.1', { host: 'box.lan' }, false],
    ['with a wrong token from another machine', '192.168.1.9', { host: 'box.lan', authorization: 'Bearer no' }, false],
    ['with the token from another machine', '192.168.1.9', { ...signedIn, host: 'box.lan' }, true],
  ])('%s', async (_title, remoteAddress, headers, full) => {
    const { app, keeper } = await givenApp({ allowedHosts: ['box.lan'] });
    const response = await app.inject({ url: '/health', headers: { host: signedIn.host, ...headers }, remoteAddress });
    expect(response.statusCode).toBe(200);
    expect(keeper.asked).toEqual([['health', full]]);
    contract.health.parse(response.json());
  });
});

it('The file of servers shows what is wrong with it while it cannot be parsed', async () => {
  const { app, keeper } = await givenApp();
  keeper.configProblem = () => ({ message: 'A comma is missing.', line: 3, column: 7 });
  const response = await app.inject({ url: '/v1/mcp', headers: signedIn });
  expect(contract.config.parse(response.json()).problem).toEqual({
    message: 'A comma is missing.',
    line: 3,
    column: 7,
  });
});

it('The daemon ends after it has answered', async () => {
  const { response, asked } = await ask('POST', '/v1/shutdown', {});
  expect(response.json()).toEqual({ ok: true });
  expect(asked).toEqual([['shutdown']]);
});

it('Numbers for Prometheus are text', async () => {
  const { response } = await ask('GET', '/metrics');
  expect(response.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(response.body).toBe('# HELP up\nup 1\n');
});

it('An event is sent with its time in ISO 8601 and everything else as recorded', async () => {
  const { app, keeper } = await givenApp();
  keeper.commit(recorded(1, 'one'), recorded(2, 'two'));
  const response = await app.inject({ url: '/v1/events?limit=1', headers: signedIn });
  expect(response.json()).toEqual({
    events: [
      {
        position: 1,
        stream: 'server-memory',
        version: 1,
        type: 'ServerEnabled',
        schema: 1,
        at: '2026-03-01T12:00:00.001Z',
        cause: null,
        data: { note: 'one' },
      },
    ],
    next: 1,
  });
});

it('No answer may be stored, framed or sniffed', async () => {
  for (const url of ['/health', '/v1/mcp/status', '/v1/nothing', '/docs', '/%zz']) {
    const { response } = await ask('GET', url);
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    expect(response.headers['content-security-policy']).toMatch(/default-src 'none';.*frame-ancestors 'none'/);
  }
});

it('HEAD has the headers of GET and no body', async () => {
  const { app } = await givenApp();
  const response = await app.inject({ method: 'HEAD', url: '/v1/mcp/status', headers: signedIn });
  expect(response.statusCode).toBe(200);
  expect(response.body).toBe('');
});
