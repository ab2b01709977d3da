import { describe, expect, it } from 'vitest';
import { allowlistRules } from '../../../src/actors/allowlist/allowlist.rules.ts';
import type { AllowlistFact, GrantOrigin } from '../../../src/events/allowlist.events.ts';
import { specifyRules } from '../../given.ts';

const { given } = specifyRules(allowlistRules);

const added = (entry: string, origin: GrantOrigin = 'file', by = 'file'): AllowlistFact => ({
  type: 'GrantAdded',
  data: { entry, origin, by },
});
const removed = (entry: string, origin: GrantOrigin = 'file', by = 'file'): AllowlistFact => ({
  type: 'GrantRemoved',
  data: { entry, origin, by },
});
const binding = (identity: string, definition: string | null = null) => ({ identity, definition });
const bound = (entry: string, identity: string, definition: string | null = null): AllowlistFact => ({
  type: 'GrantBound',
  data: { entry, binding: binding(identity, definition) },
});
const suspended = (
  entry: string,
  before: ReturnType<typeof binding>,
  after: ReturnType<typeof binding>,
  changed: 'server' | 'tool',
): AllowlistFact => ({
  type: 'GrantSuspended',
  data: { entry, before, after, changed },
});

const get = 'mcp__a__get';
const put = 'mcp__a__put';
const all = 'mcp__a__*';
const other = 'mcp__b__get';

const seen = (name: string, server: string, identity: string, definition: string) => ({
  name,
  server,
  identity,
  definition,
});
/** `get` was granted, bound, and then its tool changed. */
const wasSuspended = [added(get), bound(get, 'i', 'd'), suspended(get, binding('i', 'd'), binding('i', 'new'), 'tool')];

describe('reading the file', () => {
  const sync = (...entries: string[]) => ({ type: 'SyncFile', entries, by: 'file' }) as const;

  it('adds new entries and removes missing ones, in order', () => {
    given(added(put), added(other))
      .when(sync(other, get, all))
      .then(removed(put), added(all), added(get));
  });

  it('is no news when the entries are the same in another order, or twice', () => {
    given(added(get), added(put))
      .when(sync(put, get, put))
      .thenNothing();
  });

  it('passes over what is no entry', () => {
    given()
      .when(sync('mcp__a__*x', 'read_file', '__proto__', get))
      .then(added(get));
  });

  it('leaves a suspended grant suspended as long as its line stays', () => {
    given(...wasSuspended)
      .when(sync(get))
      .thenNothing();
  });

  it('takes a line that went and came back for a new grant, bound to nothing', () => {
    given(...wasSuspended, removed(get))
      .when(sync(get))
      .then(added(get));
    given(...wasSuspended, removed(get), added(get))
      .when({ type: 'BindSeen', tools: [seen(get, 'a', 'i', 'new')] })
      .then(bound(get, 'i', 'new'));
  });
});

describe('replacing the entries of one prefix', () => {
  const replace = (prefix: string, ...entries: string[]) =>
    ({ type: 'ReplacePrefix', prefix, entries, by: 'main' }) as const;

  it('touches no other server', () => {
    given(added(get), added(other))
      .when(replace('mcp__a__', put))
      .then(removed(get, 'api', 'main'), added(put, 'api', 'main'));
  });

  it('removes all entries of the server when none is given', () => {
    given(added(get), added(all), added(other))
      .when(replace('mcp__a__'))
      .then(removed(all, 'api', 'main'), removed(get, 'api', 'main'));
  });

  it('collapses everything into the whole server when that is among the entries', () => {
    given(added(get))
      .when(replace('mcp__a__', get, all, put))
      .then(removed(get, 'api', 'main'), added(all, 'api', 'main'));
  });

  it('leaves a bound or unbound grant as it is when it is given again', () => {
    given(added(get), added(put), bound(put, 'i', 'd'))
      .when(replace('mcp__a__', put, get, get))
      .thenNothing();
  });

  it('renews a suspended grant that is given again: it is bound anew when the tool is seen', () => {
    const renewed = [removed(get, 'api', 'main'), added(get, 'api', 'main')];
    given(...wasSuspended)
      .when(replace('mcp__a__', get))
      .then(...renewed);
    given(...wasSuspended, ...renewed)
      .when({ type: 'BindSeen', tools: [seen(get, 'a', 'i', 'new')] })
      .then(bound(get, 'i', 'new'));
  });

  it.each(['mcp__', 'mcp__a', 'mcp__a__get', 'mcp__a__*', 'read_', '', 'mcp__a b__'])(
    'refuses the prefix %j',
    (prefix) => {
      given(added(get)).when(replace(prefix)).thenRefused('allowlist-prefix-invalid');
    },
  );

  it.each(['mcp__b__get', 'get', 'mcp__a__', 'mcp__a__ge*', 'mcp__a__x y', `${get}\n${other}`])(
    'refuses the entry %j and changes nothing',
    (entry) => {
      const detail = given(added(put))
        .when(replace('mcp__a__', get, entry))
        .thenRefused('allowlist-entry-invalid');
      expect(detail).toContain(entry);
    },
  );

  it('refuses a wrong entry beside the whole server too', () => {
    given()
      .when(replace('mcp__a__', all, other))
      .thenRefused('allowlist-entry-invalid');
  });
});

describe('remembering an approval', () => {
  const remember = (entry: string, identity: string, definition: string | null) =>
    ({ type: 'Remember', entry, by: 'main', binding: binding(identity, definition) }) as const;

  it('adds and binds in one step', () => {
    given()
      .when(remember(get, 'i', 'd'))
      .then(added(get, 'approval', 'main'), bound(get, 'i', 'd'));
  });

  it('binds a whole server to its identity alone', () => {
    given()
      .when(remember(all, 'i', 'd'))
      .then(added(all, 'approval', 'main'), bound(all, 'i'));
  });

  it('binds an entry nobody has bound', () => {
    given(added(get))
      .when(remember(get, 'i', 'd'))
      .then(bound(get, 'i', 'd'));
  });

  it('binds a suspended grant anew', () => {
    given(...wasSuspended)
      .when(remember(get, 'i', 'new'))
      .then(bound(get, 'i', 'new'));
  });

  it('binds a grant that stands on something older anew', () => {
    given(added(get), bound(get, 'old', 'd'))
      .when(remember(get, 'i', 'd'))
      .then(bound(get, 'i', 'd'));
  });

  it('is no news when the grant stands on the same already', () => {
    given(added(get), bound(get, 'i', 'd'))
      .when(remember(get, 'i', 'd'))
      .thenNothing();
    given(added(all), bound(all, 'i'))
      .when(remember(all, 'i', 'd'))
      .thenNothing();
  });

  it.each([
    ['no entry', 'get', 'i', 'd'],
    ['a pattern', 'mcp__a__g*', 'i', 'd'],
    ['a tool without a definition', get, 'i', null],
    ['a server without an identity', all, '', null],
  ])('is refused for %s', (_what, entry, identity, definition) => {
    given()
      .when(remember(entry, identity, definition))
      .thenRefused('allowlist-entry-invalid');
  });
});

describe('seeing tools and servers', () => {
  const see = (...tools: ReturnType<typeof seen>[]) => ({ type: 'BindSeen', tools }) as const;

  it('binds entries whose tool or server is listed, and no others', () => {
    given(added(get), added(put), added(all), added(other))
      .when(see(seen(get, 'a', 'i', 'd')))
      .then(bound(all, 'i'), bound(get, 'i', 'd'));
  });

  it('binds a whole server that lists no tool', () => {
    given(added(all))
      .when({ type: 'BindSeen', tools: [], servers: [{ server: 'a', identity: 'i' }] })
      .then(bound(all, 'i'));
  });

  it('is no news when nothing changed', () => {
    given(added(get), bound(get, 'i', 'd'), added(all), bound(all, 'i'))
      .when(see(seen(get, 'a', 'i', 'd')))
      .thenNothing();
  });

  it.each([
    ['the definition', 'i', 'new', 'tool'],
    ['the server', 'new', 'd', 'server'],
    ['both', 'new', 'new', 'server'],
  ] as const)('suspends the grant of a tool when %s changes', (_what, identity, definition, changed) => {
    given(added(get), bound(get, 'i', 'd'))
      .when(see(seen(get, 'a', identity, definition)))
      .then(suspended(get, binding('i', 'd'), binding(identity, definition), changed));
  });

  it('suspends the grant of a whole server when the server changes, and not when a tool does', () => {
    given(added(all), bound(all, 'i'))
      .when(see(seen(get, 'a', 'i', 'new'), seen(put, 'a', 'i', 'x')))
      .thenNothing();
    given(added(all), bound(all, 'i'))
      .when(see(seen(get, 'a', 'new', 'd')))
      .then(suspended(all, binding('i'), binding('new'), 'server'));
  });

  it('says once that a grant is suspended, also when what changed changes again or back', () => {
    given(...wasSuspended)
      .when(see(seen(get, 'a', 'i', 'newer')))
      .thenNothing();
    given(...wasSuspended)
      .when(see(seen(get, 'a', 'i', 'd')))
      .thenNothing();
  });

  it('leaves the grant of a tool that is gone as it is', () => {
    given(added(get), bound(get, 'i', 'd'))
      .when(see(seen(put, 'a', 'i', 'x')))
      .thenNothing();
  });

  it('binds nothing to a tool of another server, or to an unknown identity or definition', () => {
    given(added(get), added(all))
      .when(see(seen(get, 'b', 'i', 'd'), seen(get, 'a', '', 'd')))
      .thenNothing();
    given(added(get))
      .when(see(seen(get, 'a', 'i', '')))
      .thenNothing();
  });
});

describe('removing a server', () => {
  it('removes its grants and those of no server whose name begins alike', () => {
    given(added('mcp__a-b__*'), added('mcp__ab__*'), added(all), added(get))
      .when({ type: 'RemoveServer', server: 'a', by: 'main' })
      .then(removed(all, 'server-removed', 'main'), removed(get, 'server-removed', 'main'));
  });

  it('is no news when it had none', () => {
    given(added(get)).when({ type: 'RemoveServer', server: 'b', by: 'main' }).thenNothing();
  });
});
