import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Grant } from '../../../src/actors/allowlist/allowlist.state.ts';
import { askGate, effectiveMode, type GateQuestion } from '../../../src/actors/call/gate.ts';
import { isRefusal } from '../../../src/actors/refusal.ts';
import type { PermissionMode } from '../../../src/events/call.events.ts';

const MODES: readonly PermissionMode[] = ['deny', 'ask', 'allow-all'];

const question: Omit<GateQuestion, 'grants' | 'mode'> = {
  name: 'mcp__a__get',
  server: 'a',
  identity: 'i',
  definition: 'd',
};
const one: Grant = {
  entry: 'mcp__a__get',
  server: 'a',
  tool: 'mcp__a__get',
  state: 'bound',
  binding: { identity: 'i', definition: 'd' },
};
const whole: Grant = {
  entry: 'mcp__a__*',
  server: 'a',
  tool: '*',
  state: 'bound',
  binding: { identity: 'i', definition: null },
};
const ask = (mode: PermissionMode, ...grants: Grant[]) => askGate({ ...question, mode, grants });

describe('a call that a grant covers', () => {
  it.each([
    ['of the tool', one],
    ['of the whole server', whole],
  ])('runs in every mode: grant %s', (_what, grant) => {
    for (const mode of MODES) expect(ask(mode, grant)).toEqual({ kind: 'run', because: 'granted' });
  });

  it('runs when one grant of several covers it', () => {
    expect(ask('deny', { ...one, state: 'suspended' }, whole)).toEqual({ kind: 'run', because: 'granted' });
  });

  it('runs for a tool that appeared after its server was granted whole', () => {
    expect(askGate({ ...question, name: 'mcp__a__new', definition: 'other', mode: 'deny', grants: [whole] }).kind).toBe(
      'run',
    );
  });
});

const suspended = 'mcp__a__get was allowed, but the tool changed since.';
describe('a call that no grant covers', () => {
  it.each<[string, Grant[], string[]]>([
    ['no grant at all', [], []],
    ['a grant of another tool', [{ ...one, entry: 'mcp__a__put', tool: 'mcp__a__put' }], []],
    ['a grant of another server with the same tool name', [{ ...one, server: 'b' }], []],
    ['a whole server whose name begins alike: ab', [{ ...whole, entry: 'mcp__ab__*', server: 'ab' }], []],
    ['a whole server whose name begins alike: a_', [{ ...whole, entry: 'mcp__a_b__*', server: 'a_b' }], []],
    [
      'one nobody has bound',
      [{ ...one, state: 'unbound', binding: null }],
      ['mcp__a__get is allowed, but was never tied to this server and tool.'],
    ],
    ['a suspended one', [{ ...one, state: 'suspended', binding: { identity: 'i', definition: 'old' } }], [suspended]],
    ['a suspended one whose tool changed back', [{ ...one, state: 'suspended' }], [suspended]],
    [
      'a suspended whole server',
      [{ ...whole, state: 'suspended', binding: { identity: 'old', definition: null } }],
      ['mcp__a__* was allowed, but the server changed since.'],
    ],
    [
      'one bound to another definition, not yet suspended',
      [{ ...one, binding: { identity: 'i', definition: 'old' } }],
      [suspended],
    ],
    [
      'one bound to another server of the name',
      [{ ...one, binding: { identity: 'old', definition: 'd' } }],
      ['mcp__a__get was allowed, but the server changed since.'],
    ],
    [
      'a whole server of another identity',
      [{ ...whole, binding: { identity: 'old', definition: null } }],
      ['mcp__a__* was allowed, but the server changed since.'],
    ],
    ['one bound to nothing', [{ ...one, binding: null }], ['mcp__a__get was allowed, but the server changed since.']],
    ['a tool bound like a whole server', [{ ...one, binding: { identity: 'i', definition: null } }], [suspended]],
    [
      'a whole server bound like a tool',
      [{ ...whole, binding: { identity: 'i', definition: 'd' } }],
      ['mcp__a__* was allowed, but the tool changed since.'],
    ],
  ])('is held, refused or let through by mode: %s', (_what, grants, unusual) => {
    expect(ask('ask', ...grants)).toEqual({ kind: 'hold', unusual });
    expect(ask('deny', ...grants)).toMatchObject({ kind: 'refuse', reason: expect.stringContaining('mcp__a__get') });
    expect(ask('allow-all', ...grants)).toEqual({ kind: 'run', because: 'allow-all' });
  });

  it('asks server a__b’s own grants and never those of a', () => {
    const grants = [whole, { ...whole, entry: 'mcp__a__b__*', tool: '*', server: 'a' }];
    expect(askGate({ ...question, name: 'mcp__a__b__get', server: 'a__b', mode: 'ask', grants })).toEqual({
      kind: 'hold',
      unusual: [],
    });
  });
});

describe('the gate is closed', () => {
  it.each([
    ['a mode nobody knows', { mode: 'yolo' }],
    ['a mode of Object.prototype', { mode: 'constructor' }],
    ['no mode', { mode: undefined }],
    ['no name', { name: '' }],
    ['no server', { server: '' }],
    ['no identity', { identity: '' }],
    ['no definition', { definition: undefined }],
  ])('for %s, whatever is granted', (_what, members) => {
    const open = { ...question, mode: 'allow-all', grants: [whole, one], ...members } as GateQuestion;
    expect(askGate(open).kind).toBe('refuse');
  });

  const text = fc.constantFrom('a', 'b', 'a_b', '', 'i', 'd', '*', 'mcp__a__get', 'mcp__b__get');
  const binding = fc.option(fc.record({ identity: text, definition: fc.option(text) }));
  const grant: fc.Arbitrary<Grant> = fc.record({
    entry: text,
    server: text,
    tool: text,
    state: fc.constantFrom('unbound', 'bound', 'suspended'),
    binding,
  });

  it('for every grant but those bound to this server and, for a tool, this definition', () => {
    fc.assert(
      fc.property(
        fc.array(grant, { maxLength: 4 }),
        text,
        text,
        text,
        text,
        (grants, name, server, identity, definition) => {
          const verdict = askGate({ mode: 'deny', name, server, identity, definition, grants });
          if (verdict.kind !== 'run') return;
          expect(
            grants.some(
              (one) =>
                one.state === 'bound' &&
                one.server === server &&
                one.binding?.identity === identity &&
                (one.tool === '*'
                  ? one.binding.definition === null
                  : one.tool === name && one.binding.definition === definition),
            ),
          ).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('the mode a request runs in', () => {
  it.each<[PermissionMode | undefined, PermissionMode, PermissionMode, PermissionMode | 'refused']>([
    [undefined, 'ask', 'allow-all', 'ask'],
    [undefined, 'allow-all', 'ask', 'ask'],
    [undefined, 'allow-all', 'deny', 'deny'],
    [undefined, 'deny', 'allow-all', 'deny'],
    ['deny', 'ask', 'allow-all', 'deny'],
    ['ask', 'ask', 'allow-all', 'ask'],
    ['allow-all', 'ask', 'allow-all', 'allow-all'],
    ['allow-all', 'ask', 'ask', 'refused'],
    ['allow-all', 'allow-all', 'ask', 'refused'],
    ['ask', 'deny', 'ask', 'ask'],
    ['ask', 'deny', 'deny', 'refused'],
    ['deny', 'deny', 'deny', 'deny'],
  ])('asked for %s, default %s, ceiling %s: %s', (requested, defaultMode, ceiling, expected) => {
    const answer = effectiveMode(requested, { defaultMode, ceiling });
    if (expected === 'refused') expect(answer).toMatchObject({ refused: 'permission-mode-above-ceiling' });
    else expect(answer).toEqual({ mode: expected });
  });

  it('is refused when nobody knows it', () => {
    expect(effectiveMode('yolo', { defaultMode: 'ask', ceiling: 'allow-all' })).toMatchObject({
      refused: 'permission-mode-unknown',
    });
  });

  it('is the lowest where default or ceiling are not known', () => {
    const broken = 'yolo' as PermissionMode;
    expect(effectiveMode(undefined, { defaultMode: broken, ceiling: 'allow-all' })).toEqual({ mode: 'deny' });
    expect(effectiveMode(undefined, { defaultMode: 'allow-all', ceiling: broken })).toEqual({ mode: 'deny' });
    expect(isRefusal(effectiveMode('ask', { defaultMode: 'ask', ceiling: broken }))).toBe(true);
  });
});
