import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CheckInput, checkClient } from '../../src/clients/checks.ts';
import type { HubFacts } from '../../src/clients/facts.ts';
import { identifierLength } from '../../src/clients/identifier.ts';
import { clientCalled, knownClients } from '../../src/clients/known.ts';
import { plannedEntries } from '../../src/clients/plan.ts';
import { projectRoot } from '../support/paths.ts';

const client = (id: string): CheckInput['client'] => {
  const found = clientCalled(id);
  if (!found) throw new Error(`no client ${id}`);
  return found;
};

/** A server with a prefix and tools of these lengths. */
const server = (name: string, tool_prefix: string | undefined, ...tools: number[]) => ({
  name,
  state: 'ready',
  tool_prefix,
  tools: { count: tools.length, longest: Math.max(0, ...tools), stale: false },
});

const agenticWiki = 'cartographer-morbos-agentic-wiki';
const prefixed = (length: number): HubFacts => ({
  mount_mode: 'per-server',
  servers: [server(agenticWiki, 'p'.repeat(length), 20, 6, 3), server('b', '', 1)],
});

const check = (id: string, facts: HubFacts | null, entries: CheckInput['entries'], more: Partial<CheckInput> = {}) =>
  checkClient({ client: client(id), entries, name: null, facts, ...more });
const lengths = (id: string, facts: HubFacts | null, ...entries: CheckInput['entries']) =>
  check(id, facts, entries).flatMap((warning) => ('length' in warning ? [[warning.entry, warning.length]] : []));
const entry = (name: string, of: string | null = name) => ({ entry: name, server: of });

describe('Identifiers that a client cuts off at 64', () => {
  it.each<[what: string, prefix: number, warned: number | null]>([
    ['a prefix of 19', 19, 78],
    ['a prefix of 3', 3, null],
    ['a prefix of 5: exactly 64', 5, null],
    ['a prefix of 6: one too many', 6, 65],
  ])('an entry of 32 characters and a tool of 20, with %s', (_what, prefix, warned) => {
    expect(lengths('antigravity', prefixed(prefix), entry(agenticWiki))).toEqual(
      warned === null ? [] : [[agenticWiki, warned]],
    );
  });

  it('add up: what is put around, the entry, the prefix with its separator, the tool', () => {
    const { identifier } = client('antigravity');
    expect(identifierLength(identifier, 'a'.repeat(32), 'p'.repeat(19), 20)).toBe(4 + 32 + 1 + 19 + 2 + 20);
    expect(identifierLength(identifier, 'a'.repeat(12), '', 20)).toBe(4 + 12 + 1 + 20);
    expect(identifierLength(identifier, 'é😀', '', 1)).toBe(4 + 2 + 1 + 1);
  });

  it('of one entry for all servers have no prefix', () => {
    const facts = (longest: number): HubFacts => ({
      mount_mode: 'routed',
      routed: { count: 3, longest },
      servers: [server('a', 'p'.repeat(26), 20)],
    });
    expect(lengths('antigravity', facts(20), entry('cartographer', null))).toEqual([]);
    expect(lengths('antigravity', facts(47), entry('cartographer', null))).toEqual([]);
    expect(lengths('antigravity', facts(48), entry('cartographer', null))).toEqual([['cartographer', 65]]);
  });

  it('of one server alone use its prefix, although the entry is called after the hub', () => {
    const facts = (prefix: number): HubFacts => ({ servers: [server('wiki', 'p'.repeat(prefix), 20)] });
    const [planned] = plannedEntries({ mode: 'per-server', name: 'cartographer' }, facts(19));
    expect(planned).toEqual({ entry: 'cartographer', server: 'wiki' });
    expect(lengths('antigravity', facts(19), entry('cartographer', 'wiki'))).toEqual([]);
    expect(lengths('antigravity', facts(25), entry('cartographer', 'wiki'))).toEqual([]);
    expect(lengths('antigravity', facts(26), entry('cartographer', 'wiki'))).toEqual([['cartographer', 65]]);
  });

  it.each<[what: string, facts: HubFacts | null]>([
    ['no answer of the daemon', null],
    ['a daemon that names no servers', {}],
    ['a server nobody knows', { servers: [server('other', '', 60)] }],
    ['no list read yet', { servers: [{ name: agenticWiki, tool_prefix: 'p'.repeat(26) }] }],
    ['a prefix nobody tells', { servers: [server(agenticWiki, undefined, 60)] }],
    ['a list without tools', { servers: [server(agenticWiki, 'p'.repeat(26))] }],
  ])('are not spoken of without facts: %s', (_what, facts) => {
    expect(check('antigravity', facts, [entry(agenticWiki)])).toEqual([]);
  });

  it('are told in one sentence with what is lost and every way out', () => {
    const facts: HubFacts = {
      ...prefixed(19),
      lengths: { servers: { [agenticWiki]: { 20: 1, 6: 1, 3: 1 } }, routed: {}, if_routed: { count: 4, longest: 20 } },
    };
    const [warning] = check('antigravity', facts, [entry(agenticWiki)], { name: 'cartographer' });
    expect(warning).toMatchObject({
      kind: 'identifier-too-long',
      client: 'Antigravity',
      entry: agenticWiki,
      length: 78,
      limit: 64,
      effect: 'drop',
      lost: { count: 1, exact: true, of: 3 },
      remedies: {
        tool_prefix: { longest: 5, length: 64, fits: true },
        mount_mode: { value: 'routed', length: 37, fits: true },
        name: null,
      },
    });
    expect(warning?.message).toBe(
      `Antigravity: entry "${agenticWiki}" makes identifiers of 78 characters, the limit is 64; 1 of 3 tools will be missing there. Use a shorter tool_prefix, at most 5 characters (gives 64), or mount_mode: "routed" (gives 37).`,
    );
  });

  it('name a shorter --name where that is enough', () => {
    const facts: HubFacts = { servers: [server('wiki', 'wiki', 40), server('b', '', 1)] };
    const [warning] = check('antigravity', facts, [entry('cartographer-wiki', 'wiki')], { name: 'cartographer' });
    expect(warning).toMatchObject({ length: 68, remedies: { name: { longest: 8, length: 64, fits: true } } });
    expect(warning?.message).toContain('a shorter --name, at most 8 characters (gives 64)');
  });

  it.each<[what: string, prefix: string, tool: number, words: string]>([
    ['the prefix has to go altogether', 'pppp', 51, 'a shorter tool_prefix, "" at best (gives 62)'],
    ['not even that is enough', 'pppp', 60, 'a shorter tool_prefix, "" at best (gives 71, still too long)'],
    ['there is no prefix to shorten', '', 60, 'a shorter tool_prefix (there is none; stays 71)'],
  ])('say what a shorter prefix gives when %s', (_what, prefix, tool, words) => {
    const facts: HubFacts = { servers: [server('server', prefix, tool)] };
    expect(check('antigravity', facts, [entry('server')])[0]?.message).toContain(words);
  });

  it('say so when one entry for all would be no better', () => {
    const facts: HubFacts = { servers: [server('server', 'pp', 60)] };
    expect(check('antigravity', facts, [entry('server')])[0]?.message).toContain(
      'mount_mode: "routed" (gives 76, still too long)',
    );
  });

  it('that hold other characters are told apart from those that are too long', () => {
    expect(check('antigravity', null, [entry('my hub.é', 'a')])).toEqual([
      expect.objectContaining({ kind: 'identifier-characters', characters: [' ', '.', 'é'] }),
    ]);
    expect(check('codex', null, [entry('my hub', 'a')])).toEqual([]);
  });
});

describe('Other rules', () => {
  it.each<[id: string, entry: string, tool: number, warned: number | null]>([
    ['cursor', 'e', 58, null],
    ['cursor', 'e', 59, 60],
    ['cursor', '1234567', 52, null],
    ['claude-code', 'memory', 51, null],
    ['claude-code', 'memory', 52, 65],
    ['copilot-cli', 'memory', 57, null],
    ['copilot-cli', 'memory', 58, 65],
    ['opencode', 'memory', 58, 65],
    ['kiro', 'a-long-name-for-an-entry', 64, null],
    ['kiro', 'memory', 65, 65],
    ['codex', 'memory', 100, null],
    ['vscode', 'memory', 100, null],
    ['gemini-cli', 'memory', 100, null],
    ['windsurf', 'memory', 100, null],
    ['crush', 'memory', 100, null],
  ])('%s: entry %s and a tool of %i', (id, name, tool, warned) => {
    const facts: HubFacts = { servers: [server(name, '', tool)] };
    expect(lengths(id, facts, entry(name))).toEqual(warned === null ? [] : [[name, warned]]);
  });

  it('tools that share one name space are warned about, loudest where nothing is known', () => {
    const two = [entry('b'), entry('a')];
    const facts = (a: string | undefined, b: string | undefined): HubFacts => ({
      servers: [server('a', a, 1), server('b', b, 1)],
    });
    expect(check('kiro', facts('', ''), two)).toEqual([expect.objectContaining({ entries: ['a', 'b'], known: true })]);
    expect(check('kiro', null, two)).toEqual([expect.objectContaining({ entries: ['a', 'b'], known: false })]);
    expect(check('kiro', facts(undefined, ''), two)).toEqual([expect.objectContaining({ known: false })]);
    expect(check('kiro', facts('x', ''), two)).toEqual([]);
    expect(check('kiro', null, [entry('a')])).toEqual([]);
    expect(check('kiro', null, [entry('hub', null)])).toEqual([]);
    expect(check('cursor', null, two)).toEqual([]);
  });

  it('who has only the program that keeps tools apart is not warned', () => {
    const two = [entry('b'), entry('a')];
    expect(check('kiro', null, two, { commands: new Set(['kiro']) })).toEqual([]);
    expect(check('kiro', null, two, { commands: new Set(['kiro', 'kiro-cli']) })).toHaveLength(1);
    expect(check('kiro', null, two, { commands: new Set() })).toHaveLength(1);
  });

  it('more tools than a client takes are told, over all entries together', () => {
    const many = Array.from({ length: 41 }, () => 3);
    const facts: HubFacts = { servers: [server('a', '', ...many), server('b', '', ...many)] };
    expect(check('cursor', facts, [entry('a')])).toEqual([]);
    expect(check('cursor', facts, [entry('a'), entry('b')])).toEqual([
      expect.objectContaining({ kind: 'too-many-tools', tools: 82, cap: 80 }),
    ]);
  });
});

describe('The checks', () => {
  it.each(['identifier.ts', 'checks.ts', 'findings.ts', 'inspect.ts', 'plan.ts', 'facts.ts'])(
    'in %s know no client by its name',
    (file) => {
      const code = readFileSync(join(projectRoot, 'src/clients', file), 'utf8');
      const named = knownClients
        .filter(({ id, name }) => new RegExp(`\\b${id}\\b`, 'i').test(code) || code.includes(name))
        .map(({ id }) => id);
      expect(named).toEqual([]);
    },
  );

  it('have a descriptor of every client, each in a file called like it', () => {
    const files = readdirSync(join(projectRoot, 'src/clients/known')).filter((file) => file !== 'shapes.ts');
    expect(files.sort()).toEqual(knownClients.map(({ id }) => `${id}.ts`).sort());
  });
});
