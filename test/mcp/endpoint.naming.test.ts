import { describe, expect, it } from 'vitest';
import { hash8 } from '../../src/hash.ts';
import {
  bareLengths,
  effectivePrefix,
  findTool,
  hubNames,
  type MountedServer,
  nameLengths,
  serverNames,
} from '../../src/mcp/endpoint.naming.ts';
import { registeredNames } from '../../src/mcp/naming.ts';

const rules = { maxLength: 64, hash8 };
const mounted = (server: string, prefix: string | undefined, ...tools: string[]): MountedServer => ({
  server,
  prefix,
  tools,
});
const listed = (servers: readonly MountedServer[], mode: 'per-server' | 'routed' = 'per-server'): string[] => [
  ...hubNames(servers, mode, rules).toolOf.keys(),
];

describe('names on /mcp and /mcp/<server>', () => {
  it.each([
    ['without a prefix', undefined, ['git__x.y', 'log'], ['git__git__x_y', 'git__log'], ['git__x.y', 'log']],
    ['with one', 'g', ['x.y', 'log'], ['g__log', 'g__x_y'], ['g__log', 'g__x_y']],
    ['with an empty one', '', ['x.y', 'log'], ['log', 'x_y'], ['log', 'x.y']],
  ])('%s', (_what, prefix, tools, onHub, onServer) => {
    const server = mounted('git', prefix, ...tools);
    expect(listed([server])).toEqual(onHub);
    expect([...serverNames(server, rules).toolOf.keys()].sort()).toEqual(onServer);
  });

  it('shares a prefix between servers and tells their equal tools apart on /mcp only', () => {
    const servers = [mounted('a', 'p', 'get'), mounted('b', 'p', 'get')];
    expect(listed(servers)).toEqual(['p__get', `p__get_${hash8('mcp__b__get')}`]);
    expect(servers.map((server) => [...serverNames(server, rules).toolOf.keys()])).toEqual([['p__get'], ['p__get']]);
  });

  it('cuts long names to 64 characters, except a server’s own names on its own endpoint', () => {
    const tool = 'x'.repeat(80);
    for (const prefix of ['p', '', undefined]) {
      const [name = ''] = listed([mounted('a', prefix, tool)]);
      expect(name).toHaveLength(64);
      expect(name.endsWith(`_${hash8(`mcp__a__${tool}`)}`)).toBe(true);
    }
    expect([...serverNames(mounted('a', undefined, tool), rules).toolOf.keys()]).toEqual([tool]);
  });

  it('lists bare names in routed mode, and puts the server in front of those that servers share', () => {
    const servers = [mounted('a', undefined, 'get', 'only.a'), mounted('b', 'ignored', 'get', 'only_b')];
    expect(listed(servers, 'routed')).toEqual(['a__get', 'only_a', 'b__get', 'only_b']);
  });

  it('counts names as shared when they are equal after cleaning, and not when one server alone has both', () => {
    expect(listed([mounted('a', undefined, 'x.y'), mounted('b', undefined, 'x_y')], 'routed')).toEqual([
      'a__x_y',
      'b__x_y',
    ]);
    expect(listed([mounted('a', undefined, 'x.y', 'x_y')], 'routed')).toEqual(['x_y', `x_y_${hash8('mcp__a__x_y')}`]);
  });

  it('stays unambiguous when a bare name looks like another one’s with its server in front', () => {
    const servers = [mounted('a', undefined, 'get'), mounted('b', undefined, 'get', 'a__get')];
    expect(listed(servers, 'routed')).toEqual(['a__get', `a__get_${hash8('mcp__b__a__get')}`, 'b__get']);
  });
});

describe('finding a tool by a name on an endpoint', () => {
  const servers = [mounted('a', undefined, 'get', 'mcp__a__put', 'put'), mounted('b', 'p', 'get')];
  const registered = registeredNames(servers, rules);
  const hub = hubNames(servers, 'per-server', rules);
  const own = servers.map((server) => serverNames(server, rules));

  it.each([
    ['/mcp', 'a__get', { server: 'a', tool: 'get' }],
    ['/mcp', 'mcp__a__get', { server: 'a', tool: 'get' }],
    ['/mcp', 'p__get', { server: 'b', tool: 'get' }],
    ['/mcp', 'mcp__b__get', { server: 'b', tool: 'get' }],
    ['/mcp', 'get', undefined],
    ['/mcp/a', 'get', { server: 'a', tool: 'get' }],
    ['/mcp/a', 'mcp__a__get', { server: 'a', tool: 'get' }],
    ['/mcp/a', 'mcp__a__put', { server: 'a', tool: 'mcp__a__put' }],
    ['/mcp/a', 'mcp__b__get', undefined],
    ['/mcp/a', 'a__get', undefined],
    ['/mcp/a', 'constructor', undefined],
    ['/mcp/b', 'p__get', { server: 'b', tool: 'get' }],
    ['/mcp/b', 'get', undefined],
  ])('on %s, %s', (endpoint, name, tool) => {
    const only = endpoint.split('/')[2];
    const names = only === undefined ? hub : own[only === 'a' ? 0 : 1];
    expect(names && findTool(name, names, registered, only)).toEqual(tool);
  });
});

describe('lengths that /health publishes', () => {
  it.each([
    ['no prefix', undefined, '', ['get', 'create_issue'], { count: 2, longest: 12 }],
    ['a prefix, which does not count', 'abc', 'abc', ['get', 'create_issue'], { count: 2, longest: 12 }],
    ['an empty prefix', '', '', ['get'], { count: 1, longest: 3 }],
    ['a name cut behind its prefix', 'abc', 'abc', ['x'.repeat(80)], { count: 1, longest: 59 }],
    ['characters, not code units', undefined, '', ['🚀🚀'], { count: 1, longest: 2 }],
    ['no tools', 'abc', 'abc', [], { count: 0, longest: 0 }],
  ])('of a server with %s', (_what, prefix, shown, tools, lengths) => {
    expect(effectivePrefix(prefix)).toBe(shown);
    expect(bareLengths(serverNames(mounted('s', prefix, ...tools), rules), prefix)).toEqual(lengths);
  });

  it('of /mcp are of whole names', () => {
    const servers = [mounted('server', undefined, 'get'), mounted('b', 'p', 'get')];
    expect(nameLengths(hubNames(servers, 'per-server', rules))).toEqual({ count: 2, longest: 'server__get'.length });
    expect(nameLengths(hubNames([], 'routed', rules))).toEqual({ count: 0, longest: 0 });
  });
});
