import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AllowlistCommand } from '../../../src/actors/allowlist/allowlist.commands.ts';
import { decideAllowlist } from '../../../src/actors/allowlist/allowlist.decide.ts';
import { allowlistRules } from '../../../src/actors/allowlist/allowlist.rules.ts';
import {
  type AllowlistContext,
  blankAllowlist,
  evolveAllowlist,
  grantsOf,
} from '../../../src/actors/allowlist/allowlist.state.ts';
import { parseEntry } from '../../../src/actors/allowlist/entry.ts';
import { askGate } from '../../../src/actors/call/gate.ts';
import { isRefusal } from '../../../src/actors/refusal.ts';
import { type AllowlistFact, allowlistFacts } from '../../../src/events/allowlist.events.ts';

const get = 'mcp__a__get';
const fold = (...facts: AllowlistFact[]): AllowlistContext => facts.reduce(evolveAllowlist, blankAllowlist);

const addedFact: AllowlistFact = { type: 'GrantAdded', data: { entry: get, origin: 'file', by: 'file' } };
const boundFact: AllowlistFact = {
  type: 'GrantBound',
  data: { entry: get, binding: { identity: 'i', definition: 'd' } },
};
const suspendedFact: AllowlistFact = {
  type: 'GrantSuspended',
  data: {
    entry: get,
    before: { identity: 'i', definition: 'd' },
    after: { identity: 'i', definition: 'e' },
    changed: 'tool',
  },
};
const removedFact: AllowlistFact = { type: 'GrantRemoved', data: { entry: get, origin: 'file', by: 'file' } };

describe('what the allowlist remembers', () => {
  const grant = { entry: get, server: 'a', tool: get };
  const binding = { identity: 'i', definition: 'd' };
  it.each<[string, AllowlistFact[], unknown]>([
    ['nothing at first', [], []],
    ['an entry, unbound', [addedFact], [{ ...grant, state: 'unbound', binding: null }]],
    ['what it was bound to', [addedFact, boundFact], [{ ...grant, state: 'bound', binding }]],
    [
      'what it stood on before it was suspended',
      [addedFact, boundFact, suspendedFact],
      [{ ...grant, state: 'suspended', binding }],
    ],
    ['a renewed binding', [addedFact, boundFact, suspendedFact, boundFact], [{ ...grant, state: 'bound', binding }]],
    ['nothing of a removed entry', [addedFact, boundFact, removedFact], []],
    [
      'no binding of an entry that came back',
      [addedFact, boundFact, removedFact, addedFact],
      [{ ...grant, state: 'unbound', binding: null }],
    ],
  ])('is %s', (_what, facts, grants) => {
    expect(grantsOf(fold(...facts))).toEqual(grants);
  });

  it('hears every fact of its stream, and no other', () => {
    for (const type of Object.keys(allowlistFacts))
      expect(allowlistRules.next('open', type as AllowlistFact['type'])).toBeNull();
    expect(allowlistRules.next('open', 'CallHeld')).toBeUndefined();
  });
});

const entry = fc.constantFrom(get, 'mcp__a__put', 'mcp__a__*', 'mcp__b__get', 'mcp__b__*', 'mcp__a__g*', 'junk');
const tool = fc.record({
  name: fc.constantFrom(get, 'mcp__a__put', 'mcp__b__get'),
  server: fc.constantFrom('a', 'b'),
  identity: fc.constantFrom('i', 'j'),
  definition: fc.constantFrom('d', 'e'),
});
const command: fc.Arbitrary<AllowlistCommand> = fc.oneof(
  fc.record({ type: fc.constant('SyncFile' as const), entries: fc.array(entry), by: fc.constant('file') }),
  fc.record({
    type: fc.constant('ReplacePrefix' as const),
    prefix: fc.constantFrom('mcp__a__', 'mcp__b__', 'mcp__'),
    entries: fc.array(entry, { maxLength: 3 }),
    by: fc.constant('main'),
  }),
  fc.record({
    type: fc.constant('Remember' as const),
    entry,
    by: fc.constant('main'),
    binding: fc.record({ identity: fc.constantFrom('i', 'j'), definition: fc.constantFrom('d', 'e', null) }),
  }),
  fc.record({ type: fc.constant('BindSeen' as const), tools: fc.array(tool, { maxLength: 4 }) }),
  fc.record({ type: fc.constant('RemoveServer' as const), server: fc.constantFrom('a', 'b'), by: fc.constant('main') }),
);

/** The heads after each command that was not refused, with the command and its facts. */
function* run(commands: readonly AllowlistCommand[]) {
  let context = blankAllowlist;
  for (const command of commands) {
    const answer = decideAllowlist({ context }, command);
    if (isRefusal(answer)) continue;
    context = answer.reduce(evolveAllowlist, context);
    yield { command, facts: answer, context };
  }
}

describe('any run of commands', () => {
  it('leads to facts of their published shapes, and says nothing twice', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 12 }), (commands) => {
        for (const { command, facts, context } of run(commands)) {
          for (const fact of facts) expect(allowlistFacts[fact.type].data.parse(fact.data)).toEqual(fact.data);
          expect(decideAllowlist({ context }, command)).toEqual([]);
        }
      }),
    );
  });

  it('leaves grants that are entries under their own name, bound if and only if they say to what', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 12 }), (commands) => {
        for (const { context } of run(commands)) {
          for (const [name, grant] of Object.entries(context.grants)) {
            expect(grant).toMatchObject({ entry: name, ...parseEntry(name) });
            expect(grant.binding === null).toBe(grant.state === 'unbound');
          }
        }
      }),
    );
  });

  it('opens the gate to nothing that was not seen or approved just so', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 12 }), tool, (commands, asked) => {
        const known = new Set<string>();
        for (const { command, context } of run(commands)) {
          if (command.type === 'BindSeen') for (const { identity } of command.tools) known.add(identity);
          if (command.type === 'Remember') known.add(command.binding.identity);
          const verdict = askGate({ ...asked, mode: 'deny', grants: grantsOf(context) });
          if (verdict.kind === 'run') expect(known).toContain(asked.identity);
        }
      }),
    );
  });
});
