import { describe, expect, it } from 'vitest';
import type { Grant } from '../../src/actors/allowlist/allowlist.state.ts';
import { sha256Hex } from '../../src/hash.ts';
import * as contract from '../../src/http/contract.ts';
import { callAnswer, intervalAnswer, isAllowed, iso, statusAnswer, toolAnswer } from '../../src/keeper/answers.ts';
import type { ListedTool } from '../../src/keeper/directory.ts';
import { readTools } from '../../src/mcp/tools.ts';
import type { CallRow } from '../../src/projections/calls.projection.ts';
import type { StatusRow } from '../../src/projections/status.projection.ts';

const noon = Date.UTC(2026, 2, 1, 12);

const row: StatusRow = {
  server: 'a',
  position: 7,
  transport: 'stdio',
  state: 'ready',
  since: noon,
  error: null,
  attempt: 1,
  nextAttemptAt: null,
  pid: 42,
  era: 'legacy',
  protocolVersion: '2025-11-25',
  serverInfo: { name: 'one', version: '1' },
  instructions: 'secret to the agent',
  tools: 2,
  lastSeen: noon + 5,
  push: true,
  gone: false,
};

describe('Times', () => {
  it('are ISO 8601 in UTC with milliseconds', () => {
    expect(iso(noon)).toBe('2026-03-01T12:00:00.000Z');
  });
});

describe('The answer about a server', () => {
  it('is the row in the shape of the contract', () => {
    const answer = statusAnswer(row);
    expect(answer).toEqual({
      name: 'a',
      transport: 'stdio',
      state: 'ready',
      connected: true,
      since: '2026-03-01T12:00:00.000Z',
      error: null,
      attempt: 1,
      nextAttemptAt: null,
      pid: 42,
      era: 'legacy',
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'one', version: '1' },
      tools: 2,
      lastSeen: '2026-03-01T12:00:00.005Z',
      push: true,
    });
    expect(contract.serverStatus.parse(answer)).toEqual(answer);
  });

  it.each([...contract.serverState.options])('says connected only in the state ready: %s', (state) => {
    expect(statusAnswer({ ...row, state }).connected).toBe(state === 'ready');
  });

  it('tells an error with its class, its words and its time', () => {
    const waiting = {
      ...row,
      state: 'backing-off',
      error: { class: 'exit', message: 'spawn: gone', at: noon },
    } as const;
    expect(statusAnswer({ ...waiting, nextAttemptAt: noon + 500 })).toMatchObject({
      connected: false,
      error: { class: 'exit', message: 'spawn: gone', at: '2026-03-01T12:00:00.000Z' },
      nextAttemptAt: '2026-03-01T12:00:00.500Z',
    });
  });

  it.each([
    [null, undefined, null],
    [noon, undefined, iso(noon)],
    [null, noon + 1, iso(noon + 1)],
    [noon, noon + 9, iso(noon + 9)],
    [noon, noon - 9, iso(noon)],
  ])('was last seen in the log (%s) or since (%s), whichever is later', (lastSeen, seenAt, expected) => {
    expect(statusAnswer({ ...row, lastSeen }, seenAt).lastSeen).toBe(expected);
  });
});

const definition = {
  name: 'get',
  title: 'Get',
  description: 'Gets.',
  inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
  outputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
};

function listed(server = 'a', name = `mcp__${server}__get`): ListedTool {
  const [tool] = readTools([definition], sha256Hex).tools;
  if (!tool) throw new Error('The tool was not taken.');
  return { name, server, tool };
}

describe('The answer about a tool', () => {
  it('holds the whole input schema as parameters', () => {
    const answer = toolAnswer(listed(), { allowed: true, stale: false });
    expect(answer).toEqual({
      name: 'mcp__a__get',
      description: 'Gets.',
      parameters: definition.inputSchema,
      server: 'a',
      tool: 'get',
      title: 'Get',
      annotations: { readOnlyHint: true },
      outputSchema: { type: 'object' },
      allowed: true,
      stale: false,
      hash: listed().tool.hash,
    });
    expect(contract.tool.parse(answer)).toEqual(answer);
  });
});

describe('A tool is allowed', () => {
  const { hash } = listed().tool;
  const grant = (more: Partial<Grant> = {}): Grant => ({
    entry: 'mcp__a__get',
    server: 'a',
    tool: 'mcp__a__get',
    state: 'bound',
    binding: { identity: 'i', definition: hash },
    ...more,
  });
  const whole = grant({ entry: 'mcp__a__*', tool: '*', binding: { identity: 'i', definition: null } });

  it.each([
    ['by a grant tied to what is there', [grant()], true],
    ['by a grant of the whole server', [whole], true],
    ['by one of several', [grant({ state: 'suspended' }), whole], true],
    ['not without a grant', [], false],
    ['not by a grant tied to nothing', [grant({ state: 'unbound', binding: null })], false],
    ['not by a suspended one', [grant({ state: 'suspended' })], false],
    ['not by one tied to another definition', [grant({ binding: { identity: 'i', definition: 'old' } })], false],
    ['not by one tied to another identity', [grant({ binding: { identity: 'j', definition: hash } })], false],
    [
      'not by one of the whole server under another identity',
      [{ ...whole, binding: { identity: 'j', definition: null } }],
      false,
    ],
    ['not by one of another tool', [grant({ tool: 'mcp__a__got' })], false],
    ['not by one of another server', [{ ...whole, server: 'ab' }], false],
  ] as const)('%s', (_how, grants, expected) => {
    expect(isAllowed(grants, listed(), 'i')).toBe(expected);
  });
});

const callRow: CallRow = {
  seq: 3,
  id: 'c1',
  server: 'a',
  tool: 'get',
  name: 'mcp__a__get',
  state: 'held',
  outcome: null,
  mode: 'ask',
  client: 'main',
  door: 'http',
  verdict: null,
  requestedAt: noon,
  startedAt: null,
  settledAt: null,
  expiresAt: noon + 600_000,
  argsHash: 'h',
  argsBytes: 2,
  resultBytes: null,
  truncated: null,
  decidedBy: null,
  reason: null,
  identity: 'i',
  definition: 'd',
  resultHash: null,
  tookMs: null,
  closed: null,
  unusual: [],
};

describe('The answer about a call', () => {
  it.each([
    ['held', iso(noon + 600_000)],
    ['approved', iso(noon + 600_000)],
    ['running', null],
    ['settled', null],
  ] as const)('that is %s says until when it can be decided: %s', (state, expiresAt) => {
    const answer = callAnswer({ ...callRow, state }, {});
    expect(answer.expiresAt).toBe(expiresAt);
    expect(contract.call.parse(answer)).toEqual(answer);
  });

  it('holds arguments and result only while the daemon remembers them', () => {
    expect(callAnswer(callRow, {})).not.toHaveProperty('arguments');
    expect(callAnswer(callRow, { arguments: { id: 1 }, result: { content: [] } })).toMatchObject({
      arguments: { id: 1 },
      result: { content: [] },
    });
  });

  it('mentions what is odd only when something is', () => {
    expect(callAnswer(callRow, {})).not.toHaveProperty('unusual');
    expect(callAnswer({ ...callRow, unusual: ['changed'] }, {})).toMatchObject({ unusual: ['changed'] });
  });

  it('keeps the internal number to itself', () => {
    expect(callAnswer(callRow, {})).not.toHaveProperty('seq');
  });
});

describe('The answer about an interval', () => {
  it('ends with null while it lasts', () => {
    const interval = { server: 'a', state: 'ready', from: noon, to: null, cause: 'ToolsListed', position: 7 };
    expect(intervalAnswer(interval)).toEqual({ ...interval, from: iso(noon) });
    expect(intervalAnswer({ ...interval, to: noon + 1 }).to).toBe(iso(noon + 1));
    expect(contract.interval.parse(intervalAnswer({ ...interval, state: 'unobserved' })).state).toBe('unobserved');
  });
});
