import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hash8 } from '../../src/hash.ts';
import { type Names, registeredNames, type ServerTools } from '../../src/mcp/naming.ts';

const rules = { maxLength: 64, hash8 };
const suffix = (server: string, tool: string): string =>
  `_${createHash('sha256').update(`mcp__${server}__${tool}`).digest('hex').slice(0, 8)}`;

const named = (servers: readonly ServerTools[], maxLength = 64): Names =>
  registeredNames(servers, { maxLength, hash8 });
const names = (...tools: string[]): string[] => [...named([{ server: 's', tools }]).toolOf.keys()];

describe('registered names', () => {
  it.each([
    ['a plain name', 'github', 'create_issue', 'mcp__github__create_issue'],
    ['one with a hyphen', 'sqlite-notes', 'read_query', 'mcp__sqlite-notes__read_query'],
    ['a dot', 's', 'x.y', 'mcp__s__x_y'],
    ['a slash', 's', 'x/y', 'mcp__s__x_y'],
    ['Chinese', 's', '創建問題', 'mcp__s______'],
    ['an emoji, which is one character', 's', 'go🚀', 'mcp__s__go_'],
    ['a lone surrogate', 's', 'a\ud800b', 'mcp__s__a_b'],
    ['a space', 's', ' ', 'mcp__s___'],
    ['a name of Object.prototype', 's', '__proto__', 'mcp__s____proto__'],
    ['another', 's', 'constructor', 'mcp__s__constructor'],
    ['a star, which is no wildcard', 's', '*', 'mcp__s___'],
  ])('cleans %s and keeps the original', (_what, server, tool, name) => {
    const { nameOf, toolOf, warnings } = named([{ server, tools: [tool] }]);
    expect(nameOf.get(server)?.get(tool)).toBe(name);
    expect(toolOf.get(name)).toEqual({ server, tool });
    expect(warnings).toEqual([]);
  });

  it('leaves a name of exactly 64 characters alone and cuts one of 65 to 64 with its suffix', () => {
    const fits = 'x'.repeat(64 - 'mcp__s__'.length);
    expect(names(fits)).toEqual([`mcp__s__${fits}`]);
    const [cut = ''] = names(`${fits}y`);
    expect(cut).toHaveLength(64);
    expect(cut).toBe(`mcp__s__${fits.slice(0, -9)}${suffix('s', `${fits}y`)}`);
  });

  it('tells two names of 100 characters apart that differ in the last', () => {
    const [a = '', b = ''] = names(`${'x'.repeat(99)}a`, `${'x'.repeat(99)}b`);
    expect([a.length, b.length]).toEqual([64, 64]);
    expect(a).not.toBe(b);
    expect(a.slice(0, -9)).toBe(b.slice(0, -9));
  });

  it('measures the cleaned name and computes the suffix from the tool’s own spelling', () => {
    const tool = '漢'.repeat(100);
    expect(names(tool)).toEqual([`mcp__s__${'_'.repeat(64 - 8 - 9)}${suffix('s', tool)}`]);
  });

  it.each([
    [0, 'mcp__s__xxxxxxxxxxxxxxxxxxxx'],
    [28, 'mcp__s__xxxxxxxxxxxxxxxxxxxx'],
    [20, `mcp__s__xxx${suffix('s', 'x'.repeat(20))}`],
    [4, suffix('s', 'x'.repeat(20))],
  ])('obeys a limit of %i (0: none)', (maxLength, name) => {
    expect([...named([{ server: 's', tools: ['x'.repeat(20)] }], maxLength).toolOf.keys()]).toEqual([name]);
  });

  it('gives a collision’s suffix to the later tool by code unit: "." and "/" come before "_"', () => {
    const { toolOf, warnings } = named([{ server: 's', tools: ['x_y', 'x/y', 'x.y'] }]);
    expect([...toolOf]).toEqual([
      ['mcp__s__x_y', { server: 's', tool: 'x.y' }],
      [`mcp__s__x_y${suffix('s', 'x/y')}`, { server: 's', tool: 'x/y' }],
      [`mcp__s__x_y${suffix('s', 'x_y')}`, { server: 's', tool: 'x_y' }],
    ]);
    expect(warnings.map(({ kind, tool }) => [kind, tool])).toEqual([
      ['collision', 'x/y'],
      ['collision', 'x_y'],
    ]);
    expect(warnings[0]?.message).toContain(`mcp__s__x_y${suffix('s', 'x/y')}`);
  });

  it('cuts a collision’s name where the suffix would not fit', () => {
    const long = 'x'.repeat(54);
    const [, later = ''] = names(`${long}.`, `${long}_`);
    expect(later).toHaveLength(64);
    expect(later.endsWith(suffix('s', `${long}_`))).toBe(true);
  });

  it('resolves a tool that is called like another one’s suffixed name', () => {
    const squatter = `x_y${suffix('s', 'x/y')}`;
    const { nameOf } = named([{ server: 's', tools: ['x.y', 'x/y', squatter] }]);
    expect(nameOf.get('s')?.get('x/y')).toBe(`mcp__s__${squatter}`);
    expect(nameOf.get('s')?.get(squatter)).toBe(`mcp__s__${squatter}${suffix('s', squatter)}`);
  });

  it('finds a free name even where suffixes are equal', () => {
    const clash = (text: string): string => (text.includes('#') ? hash8(text) : '00000000');
    const { toolOf } = registeredNames([{ server: 's', tools: ['a.', 'a/', 'a:', 'a_'] }], {
      maxLength: 64,
      hash8: clash,
    });
    expect(toolOf.size).toBe(4);
  });

  it('leaves out a tool without a name and lists a repeated one once, with a warning each', () => {
    const { toolOf, warnings } = named([{ server: 's', tools: ['a', '', 'b', 'a', 'a', ''] }]);
    expect([...toolOf.keys()]).toEqual(['mcp__s__a', 'mcp__s__b']);
    expect(warnings.map(({ kind, tool }) => [kind, tool])).toEqual([
      ['empty', ''],
      ['duplicate', 'a'],
    ]);
  });

  it('keeps servers apart whose names begin alike', () => {
    const servers = [
      { server: 'foo', tools: ['bar', '_bar', 'bar__baz'] },
      { server: 'foo_bar', tools: ['baz'] },
      { server: 'foo-bar', tools: ['baz'] },
    ];
    expect(named(servers).warnings).toEqual([]);
    expect([...named(servers.slice(1)).toolOf.keys()]).toEqual(['mcp__foo-bar__baz', 'mcp__foo_bar__baz']);
  });
});

const serverName = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,20}$/).filter((name) => !/__|_$/.test(name));
const toolName = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '_', '.', '/', '漢', '🚀'), maxLength: 4 }),
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc.constantFrom('__proto__', 'constructor', 'toString', `${'x'.repeat(99)}a`, `${'x'.repeat(99)}b`),
);
const configured = fc.uniqueArray(fc.record({ server: serverName, tools: fc.array(toolName, { maxLength: 12 }) }), {
  selector: ({ server }) => server,
  maxLength: 5,
});

describe('registered names of any servers', () => {
  it('are all different, fit every client, and lead back to server and tool', () => {
    fc.assert(
      fc.property(configured, (servers) => {
        const { nameOf, toolOf } = registeredNames(servers, rules);
        const expected = servers.flatMap(({ server, tools }) =>
          [...new Set(tools)].filter((tool) => tool !== '').map((tool) => ({ server, tool })),
        );
        expect(toolOf.size).toBe(expected.length);
        for (const ref of expected) {
          const name = nameOf.get(ref.server)?.get(ref.tool) ?? '';
          expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
          expect(name.startsWith(`mcp__${ref.server}__`)).toBe(true);
          expect(toolOf.get(name)).toEqual(ref);
        }
      }),
    );
  });

  it('do not depend on the order of servers or of tools in a list', () => {
    fc.assert(
      fc.property(configured, fc.infiniteStream(fc.nat()), (servers, dice) => {
        const shuffled = <T>(items: readonly T[]): T[] =>
          items
            .map((item) => ({ item, at: dice.next().value }))
            .sort((a, b) => a.at - b.at)
            .map(({ item }) => item);
        const other = shuffled(servers.map(({ server, tools }) => ({ server, tools: shuffled(tools) })));
        expect([...registeredNames(other, rules).toolOf]).toEqual([...registeredNames(servers, rules).toolOf]);
      }),
    );
  });

  it('of one server do not change when another server comes or goes', () => {
    fc.assert(
      fc.property(configured, (servers) => {
        const all = registeredNames(servers, rules);
        for (const server of servers) {
          expect(registeredNames([server], rules).nameOf.get(server.server)).toEqual(all.nameOf.get(server.server));
        }
      }),
    );
  });
});
