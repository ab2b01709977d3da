import { describe, expect, it } from 'vitest';
import { pageOf } from '../../src/hub/cursor.ts';
import { EventStore } from '../../src/hub/event.store.ts';
import { weakest } from '../../src/hub/lists.ts';
import { mostTalkative, reaches } from '../../src/hub/log.levels.ts';
import { paramHeaderProblem } from '../../src/hub/param.headers.ts';
import { canBeAsked } from '../../src/hub/peer.ts';
import { acceptsOf } from '../../src/hub/reply.ts';
import { fitsTemplate, markUri, sharedUris, unmarkUri } from '../../src/hub/resource.names.ts';

describe('pages of a list', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const all = (size: number): string[][] => {
    const pages: string[][] = [];
    for (let cursor: string | undefined; ; ) {
      const page = pageOf(names, (name) => name, cursor, size);
      pages.push([...page.entries]);
      if (page.nextCursor === undefined) return pages;
      cursor = page.nextCursor;
    }
  };

  it('follow one another and end', () => {
    expect(all(2)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(all(5)).toEqual([names]);
  });

  it('go on where they were when entries come and go', () => {
    const { nextCursor } = pageOf(names, (name) => name, undefined, 2);
    expect(pageOf(['a', 'aa', 'c'], (name) => name, nextCursor, 2).entries).toEqual(['c']);
  });

  it.each(['', 'x', 'YWZ0ZXI', 12, 'YWZ0ZXI6YQ=='])('begin with no cursor that was not made here: %j', (cursor) => {
    expect(() => pageOf(names, (name) => name, cursor, 2)).toThrow(/cursor/);
  });
});

describe('URIs of several servers', () => {
  it.each([
    ['ui://app/main', 'ui://app/main#watchkeeper=one'],
    ['file:///a#b', 'file:///a#b&watchkeeper=one'],
    ['test://{id}/x', 'test://{id}/x#watchkeeper=one'],
  ])('%s is told apart and mapped back', (uri, marked) => {
    expect(markUri(uri, 'one')).toBe(marked);
    expect(unmarkUri(marked)).toEqual({ uri, server: 'one' });
    expect(unmarkUri(uri)).toBeNull();
  });

  it('are shared when more than one server has them', () => {
    expect([...sharedUris([['a:1', 'a:1', 'a:2'], ['a:2'], ['a:3']])]).toEqual(['a:2']);
  });

  it.each([
    ['test://template/{id}/data', 'test://template/12/data', true],
    ['test://template/{id}/data', 'test://template/12', false],
    ['file:///{+path}', 'file:///a/b', true],
    ['x:{a}{b}', 'y:1', false],
    ['a:b', 'a:b', true],
  ])('of the template %s: %s is one: %s', (template, uri, fits) => {
    expect(fitsTemplate(template, uri)).toBe(fits);
  });
});

describe('log messages', () => {
  it.each([
    ['debug', 'info', false],
    ['info', 'info', true],
    ['emergency', 'error', true],
    ['shout', 'error', true],
  ] as const)('of level %s reach one who wants %s: %s', (level, wanted, does) => {
    expect(reaches(level, wanted)).toBe(does);
  });

  it('are asked for as the most curious wants them', () => {
    expect(mostTalkative(['error', null, 'info'])).toBe('info');
    expect(mostTalkative([null])).toBeNull();
  });
});

describe('a client can be asked', () => {
  it.each([
    [{ sampling: {} }, 'sampling/createMessage', {}, true],
    [{}, 'sampling/createMessage', {}, false],
    [{ elicitation: {} }, 'elicitation/create', { message: 'x' }, true],
    [{ elicitation: {} }, 'elicitation/create', { mode: 'url' }, false],
    [{ elicitation: { url: {} } }, 'elicitation/create', { mode: 'form' }, false],
    [{ elicitation: { form: {}, url: {} } }, 'elicitation/create', { mode: 'url' }, true],
    [{ roots: {} }, 'roots/list', undefined, true],
    [{ roots: {}, sampling: {} }, 'tools/list', undefined, false],
  ])('that declares %j: %s %j: %s', (capabilities, method, params, can) => {
    expect(canBeAsked({ capabilities }, method, params)).toBe(can);
  });
});

describe('events kept for one who comes back', () => {
  it('are those of the same stream that came later', () => {
    const store = new EventStore();
    const start = store.mark(1);
    const first = store.add(1, 'a');
    store.add(2, 'b');
    store.add(1, 'c');
    expect(store.after(start)?.events.map(({ text }) => text)).toEqual(['a', 'c']);
    expect(store.after(first)).toMatchObject({ stream: 1, events: [{ text: 'c' }] });
    expect(store.after('1-99')).toBeNull();
    expect(store.after('nonsense')).toBeNull();
  });

  it('are bounded in number and size', () => {
    const store = new EventStore({ events: 3, size: 10 });
    const start = store.mark(1);
    for (const text of ['aaaa', 'bbbb', 'cccc', 'dddd']) store.add(1, text);
    expect(store.after(start)?.events.map(({ text }) => text)).toEqual(['cccc', 'dddd']);
  });
});

describe('hints of merged lists', () => {
  it.each([
    [[], { ttlMs: 0, cacheScope: 'private' }],
    [[{ ttlMs: 5, cacheScope: 'public' }], { ttlMs: 5, cacheScope: 'public' }],
    [
      [
        { ttlMs: 5, cacheScope: 'public' },
        { ttlMs: 9, cacheScope: 'private' },
      ],
      { ttlMs: 5, cacheScope: 'private' },
    ],
    [[{ ttlMs: 5, cacheScope: 'public' }, undefined], { ttlMs: 0, cacheScope: 'private' }],
  ] as const)('%j become %j', (hints, merged) => {
    expect(weakest(hints)).toEqual(merged);
  });
});

describe('an argument that a header repeats', () => {
  const schema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
  it.each([
    [{ region: 'eu' }, 'eu', null],
    [{ region: 'eu' }, '=?base64?ZXU=?=', null],
    [{ region: 'eu' }, 'us', /not what/],
    [{ region: 'eu' }, undefined, /missing/],
    [{ region: 'eu' }, '=?base64?ZXU?=', /base64/],
    [{}, 'us', null],
  ])('%j with %j', (args, header, problem) => {
    const found = paramHeaderProblem(schema, args, (name) => (name === 'mcp-param-region' ? header : undefined));
    if (problem === null) expect(found).toBeNull();
    else expect(found).toMatch(problem);
  });
});

describe('what a client takes', () => {
  it.each([
    [undefined, true, true],
    ['application/json, text/event-stream', true, true],
    ['application/json', true, false],
    ['text/event-stream', false, true],
    ['*/*', true, true],
    ['text/html', false, false],
  ])('%s', (accept, json, stream) => {
    expect(acceptsOf(accept)).toEqual({ json, stream });
  });
});
