import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Daemon, type Home, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { tempDir } from '../support/temp.ts';
import { beginCall, callsOf, heldCall, httpEntry, httpFake, meanwhile, textOf } from './given.ts';

const allowFile = ({ config }: Home): string => join(dirname(config), 'allow_tool');
const allowText = (home: Home): string => (existsSync(allowFile(home)) ? readFileSync(allowFile(home), 'utf8') : '');
const writeAllow = (home: Home, ...lines: string[]): void =>
  writeFileSync(allowFile(home), lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
const grantsOf = async (daemon: Daemon, prefix?: string) =>
  (await daemon.api('GET', `/v1/allowlist${prefix === undefined ? '' : `?prefix=${prefix}`}`)).body.tool;
const replace = (daemon: Daemon, prefix: string, entries: string[]) =>
  daemon.api('POST', '/v1/allowlist', { tool: { prefix, entries } });
const post = (daemon: Daemon, path: string, body?: unknown) => daemon.api('POST', `/v1/mcp/calls/${path}`, body);
const callById = async (daemon: Daemon, id: string) => (await daemon.api('GET', `/v1/mcp/calls/${id}`)).body;
const ask = (daemon: Daemon, tool: string, args: Record<string, unknown> = {}, more: Record<string, unknown> = {}) =>
  daemon.call(tool, args, { permission_mode: 'ask', wait: false, ...more });
const settled = (daemon: Daemon, id: string): Promise<any> =>
  daemon.waitFor(async () => {
    const call = await callById(daemon, id);
    return call.state === 'settled' && call;
  });

/** A file in which the tool `counter` leaves a line for each time it ran. */
function effects() {
  const file = join(tempDir(), 'effects');
  return { file, count: () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0) };
}

async function startWith(
  options: {
    approval?: Record<string, number>;
    allow?: string[];
    tools?: string[];
    more?: Record<string, unknown>;
  } = {},
): Promise<{ daemon: Daemon; server: Steered }> {
  const server = steered({ behaviour: { tools: options.tools ?? ['echo', 'add', 'counter', 'sleep'] } });
  const daemon = await startDaemon({
    servers: { s: stdioEntry(server.options), ...options.more },
    settings: { approval: options.approval ?? { windowMs: 400 } },
    ...(options.allow === undefined ? {} : { allow: options.allow }),
  });
  await daemon.waitForServer('s', 'ready');
  return { daemon, server };
}

describe('the permission mode', () => {
  let daemon: Daemon;
  let server: Steered;
  beforeAll(async () => {
    ({ daemon, server } = await startWith({ allow: ['mcp__s__add'], approval: { windowMs: 100 } }));
  });
  const call = (tool: string, more: Record<string, unknown> = {}, header?: string) =>
    daemon.api(
      'POST',
      '/v1/mcp/call',
      { tool, arguments: { text: 'x', a: 1, b: 2 }, wait: false, ...more },
      header === undefined ? {} : { 'watchkeeper-permission-mode': header },
    );

  it.each([
    ['nothing is said', {}, undefined, 202],
    ['the body says ask', { permission_mode: 'ask' }, undefined, 202],
    ['the body says allow-all', { permission_mode: 'allow-all' }, undefined, 200],
    ['the body says allow_all', { allow_all: true }, undefined, 200],
    ['the body says allow_all twice over', { allow_all: true, permission_mode: 'allow-all' }, undefined, 200],
    ['allow_all is false', { allow_all: false }, undefined, 202],
    ['the body says deny', { permission_mode: 'deny' }, undefined, 403],
    ['the header says allow-all', {}, 'allow-all', 200],
    ['the header says deny', {}, 'deny', 403],
    ['the body says deny and the header allow-all', { permission_mode: 'deny' }, 'allow-all', 403],
    ['the body contradicts itself', { allow_all: true, permission_mode: 'deny' }, undefined, 400],
    ['the body names no known mode', { permission_mode: 'yes' }, undefined, 400],
    ['the header names no known mode', {}, 'yes', 400],
  ])('decides about a tool without a grant: %s', async (_title, more, header, status) => {
    const before = server.counted('tools/call');
    const answer = await call('mcp__s__echo', more, header);
    expect(answer.status).toBe(status);
    expect(server.counted('tools/call') - before).toBe(status === 200 ? 1 : 0);
    if (status === 403) {
      expect(answer.body).toMatchObject({ code: 'call-refused', outcome: 'refused', call: expect.any(String) });
      expect(await callById(daemon, answer.body.call)).toMatchObject({
        state: 'settled',
        outcome: 'refused',
        mode: 'deny',
      });
    }
  });

  it.each(['ask', 'deny', 'allow-all'])('lets a granted tool run in mode %s', async (mode) => {
    await daemon.waitFor(async () => (await grantsOf(daemon)).entries.length === 1);
    const { status, body } = await call('mcp__s__add', { permission_mode: mode });
    expect([status, body.outcome]).toEqual([200, 'succeeded']);
    const [started] = await daemon.events({ stream: `call-${body.call}` });
    expect(started).toMatchObject({ type: 'CallStarted', data: { mode, verdict: 'granted' } });
  });

  it('is kept with the call, with what let it run', async () => {
    const { body } = await call('mcp__s__echo', { allow_all: true });
    const facts = await daemon.events({ stream: `call-${body.call}` });
    expect(facts).toMatchObject([
      { type: 'CallStarted', data: { mode: 'allow-all', verdict: 'allow-all', client: 'main', door: 'http' } },
      { type: 'CallSettled', data: { outcome: 'succeeded' } },
    ]);
  });
});

describe('grants', () => {
  it('written by hand count as soon as the file is saved, and no longer than they stand there', async () => {
    const { daemon } = await startWith({ tools: ['echo', 'add'], more: { s_more: stdioEntry() } });
    await daemon.waitForServer('s_more', 'ready');
    expect((await ask(daemon, 'mcp__s__echo')).status).toBe(202);
    writeAllow(daemon, '# mine', 'mcp__s__echo', 'nonsense', 'mcp__s__ad*', 'mcp__s_more__');
    await daemon.waitFor(async () => (await grantsOf(daemon)).entries.length === 1);
    expect(await grantsOf(daemon)).toEqual({ entries: ['mcp__s__echo'], suspended: [] });
    expect((await ask(daemon, 'mcp__s__echo', { text: 'granted' })).status).toBe(200);
    expect((await daemon.tools()).filter(({ allowed }) => allowed).map(({ name }) => name)).toEqual(['mcp__s__echo']);
    // A pattern is none, and a name that begins alike is another name.
    expect((await ask(daemon, 'mcp__s__add', { a: 1 })).status).toBe(202);
    expect((await ask(daemon, 'mcp__s_more__echo', { text: 'granted' })).status).toBe(202);

    writeAllow(daemon, '# mine');
    await daemon.waitFor(async () => (await grantsOf(daemon)).entries.length === 0);
    expect((await ask(daemon, 'mcp__s__echo', { text: 'not any more' })).status).toBe(202);
  });

  it('written before the tool is there are tied to it when it is first seen', async () => {
    const { daemon, server } = await startWith({ tools: ['echo'], allow: ['mcp__s__add', 'mcp__later__*'] });
    expect(await grantsOf(daemon)).toMatchObject({ suspended: [] });
    const bound = async () =>
      (await daemon.events({ stream: 'allowlist', type: 'GrantBound' })).map(({ data }) => data.entry);
    expect(await bound()).toEqual([]);
    server.set({ tools: ['echo', 'add'], orders: [{ id: 1, do: 'announce' }] });
    await daemon.waitForServer('s', (row) => row.tools === 2);
    await daemon.waitFor(async () => (await bound()).length === 1);
    expect((await ask(daemon, 'mcp__s__add', { a: 1, b: 2 })).status).toBe(200);
    await daemon.api('POST', '/v1/mcp', { name: 'later', server: stdioEntry({ behaviour: { tools: ['echo'] } }) });
    await daemon.waitForServer('later', 'ready');
    await daemon.waitFor(async () => (await bound()).length === 2);
    expect((await ask(daemon, 'mcp__later__echo')).status).toBe(200);
  });

  it('of one server are replaced through the API, and every other line keeps its bytes', async () => {
    const { daemon } = await startWith();
    const foreign =
      '\uFEFF# first, with spaces   \r\n\r\nmcp__other__x\r\n  mcp__other__y  \nwhat is this?\n\tmcp__s_x__a\n#mcp__s__echo';
    writeFileSync(allowFile(daemon), `${foreign}\nmcp__s__echo\nmcp__s__sleep\n`);
    await daemon.waitFor(async () => (await grantsOf(daemon, 'mcp__s__')).entries.length === 2);

    const answer = await replace(daemon, 'mcp__s__', ['mcp__s__add', 'mcp__s__echo']);
    expect([answer.status, answer.body]).toEqual([
      200,
      { ok: true, tool: { entries: ['mcp__s__add', 'mcp__s__echo'] } },
    ]);
    expect(allowText(daemon).startsWith(foreign)).toBe(true);
    expect(allowText(daemon).slice(foreign.length).split(/\r?\n/).filter(Boolean).sort()).toEqual([
      'mcp__s__add',
      'mcp__s__echo',
    ]);
    expect((await grantsOf(daemon)).entries).toEqual([
      'mcp__other__x',
      'mcp__other__y',
      'mcp__s__add',
      'mcp__s__echo',
      'mcp__s_x__a',
    ]);

    const whole = await replace(daemon, 'mcp__s__', ['mcp__s__add', 'mcp__s__*', 'mcp__s__echo']);
    expect(whole.body).toEqual({ ok: true, tool: { entries: ['mcp__s__*'] } });
    expect((await ask(daemon, 'mcp__s__counter', { file: effects().file })).status).toBe(200);
    expect(await grantsOf(daemon, 'mcp__s__')).toEqual({ entries: ['mcp__s__*'], suspended: [] });

    expect((await replace(daemon, 'mcp__s__', [])).body).toEqual({ ok: true, tool: { entries: [] } });
    expect(allowText(daemon).replace(/\n$/, '')).toBe(foreign);
    // The daemon's own writing does not come back to it as somebody else's.
    const before = (await daemon.events({ stream: 'allowlist' })).length;
    await meanwhile(600);
    expect(await daemon.events({ stream: 'allowlist' })).toHaveLength(before);
  });

  it('are taken all or not at all', async () => {
    const { daemon } = await startWith({ allow: ['mcp__s__echo'] });
    await daemon.waitFor(async () => (await grantsOf(daemon)).entries.length === 1);
    const before = allowText(daemon);
    for (const [prefix, entries] of [
      ['mcp__s', ['mcp__s__add']],
      ['mcp__', ['mcp__s__add']],
      ['', ['mcp__s__add']],
      ['s', ['mcp__s__add']],
      ['mcp__s__*', ['mcp__s__*']],
      ['mcp__s__a__', []],
      ['mcp__s__add', ['mcp__s__add']],
      ['mcp__*__', []],
      ['mcp__s__', ['mcp__s__add', 'mcp__other__x']],
      ['mcp__s__', ['mcp__s__add', 'mcp__s__']],
      ['mcp__s__', ['mcp__s__add', 'mcp__s__a d']],
      ['mcp__s__', ['mcp__s__add', 'mcp__s__ad*']],
      ['mcp__s__', ['mcp__s__add\nmcp__other__x']],
    ] as [string, string[]][]) {
      const { status, body } = await replace(daemon, prefix, entries);
      expect([prefix, entries, status, body.code]).toEqual([prefix, entries, 400, 'prefix-invalid']);
    }
    expect(allowText(daemon)).toBe(before);
    expect((await grantsOf(daemon)).entries).toEqual(['mcp__s__echo']);
  });

  it('of one tool are suspended when one word of its description changes, and nothing runs by them', async () => {
    const { file, count } = effects();
    const counter = (description: string) => ({
      name: 'counter',
      description,
      inputSchema: { type: 'object', properties: { file: { type: 'string' } } },
    });
    const server = steered({ behaviour: { tools: [counter('Adds a line.') as never, 'echo'] } });
    const daemon = await startDaemon({
      servers: { s: stdioEntry(server.options) },
      settings: { approval: { windowMs: 100 } },
      allow: ['mcp__s__counter', 'mcp__s__echo'],
    });
    await daemon.waitForServer('s', 'ready');
    await daemon.waitFor(async () => (await daemon.tools()).every(({ allowed }) => allowed));

    server.set({ tools: [counter('Deletes a line.') as never, 'echo'], orders: [{ id: 1, do: 'announce' }] });
    const suspended = await daemon.waitFor(async () => {
      const now = await grantsOf(daemon);
      return now.suspended.length > 0 && now;
    });
    expect(suspended).toEqual({ entries: ['mcp__s__echo'], suspended: ['mcp__s__counter'] });
    expect((await ask(daemon, 'mcp__s__counter', { file })).status).toBe(202);
    expect((await ask(daemon, 'mcp__s__counter', { file }, { permission_mode: 'deny' })).status).toBe(403);
    expect(count()).toBe(0);
    expect((await heldCall(daemon)).unusual.join()).toMatch(/mcp__s__counter.*changed/);
    expect(allowText(daemon)).toBe('mcp__s__counter\nmcp__s__echo\n');
    const [fact] = await daemon.events({ stream: 'allowlist', type: 'GrantSuspended' });
    expect(fact.data).toMatchObject({ entry: 'mcp__s__counter', changed: 'tool' });
    expect(fact.data.before.definition).not.toBe(fact.data.after.definition);

    // It stays so after a restart, and even when the old words come back.
    await daemon.restart();
    await daemon.waitForServer('s', 'ready');
    expect((await grantsOf(daemon)).suspended).toEqual(['mcp__s__counter']);
    expect((await ask(daemon, 'mcp__s__counter', { file })).status).toBe(202);

    await replace(daemon, 'mcp__s__', ['mcp__s__counter', 'mcp__s__echo']);
    expect(await grantsOf(daemon)).toEqual({ entries: ['mcp__s__counter', 'mcp__s__echo'], suspended: [] });
    expect((await ask(daemon, 'mcp__s__counter', { file })).status).toBe(200);
    expect(count()).toBe(1);
  });

  it('are suspended when the entry of their server changes, those of a whole server too', async () => {
    const { daemon, server } = await startWith({
      allow: ['mcp__s__echo', 'mcp__t__*', 'mcp__u__*'],
      more: {
        t: stdioEntry({ behaviour: { tools: ['echo'] } }),
        u: stdioEntry({ behaviour: { tools: ['echo'] } }),
      },
    });
    for (const name of ['t', 'u']) await daemon.waitForServer(name, 'ready');
    await daemon.waitFor(async () => (await grantsOf(daemon)).entries.length === 3);
    const changed = { behaviour: { tools: ['echo', 'add'] } };
    daemon.writeConfig({
      s: stdioEntry({ ...server.options, era: 'legacy' }),
      t: stdioEntry(changed),
      // What is not part of a server's identity leaves its grants alone.
      u: stdioEntry({ behaviour: { tools: ['echo'] } }, { env: { A: 'b' }, callTimeoutMs: 5000 }),
    });
    await daemon.waitForServer('t', (row) => row.state === 'ready' && row.tools === 2);
    await daemon.waitForServer('s', 'ready');
    await daemon.waitFor(async () => (await grantsOf(daemon)).suspended.length === 2);
    expect(await grantsOf(daemon)).toEqual({ entries: ['mcp__u__*'], suspended: ['mcp__s__echo', 'mcp__t__*'] });
    expect((await ask(daemon, 'mcp__s__echo')).status).toBe(202);
    expect((await ask(daemon, 'mcp__t__echo')).status).toBe(202);
    await daemon.waitForServer('u', 'ready');
    expect((await ask(daemon, 'mcp__u__echo')).status).toBe(200);

    // Taken away and written again by hand, a line is tied anew.
    writeAllow(daemon, 'mcp__t__*', 'mcp__u__*');
    await daemon.waitFor(async () => (await grantsOf(daemon)).suspended.length === 1);
    writeAllow(daemon, 'mcp__s__echo', 'mcp__t__*', 'mcp__u__*');
    await daemon.waitFor(async () => (await grantsOf(daemon)).entries.length === 2);
    expect((await ask(daemon, 'mcp__s__echo', { text: 'again' })).status).toBe(200);
  });

  it('of a whole server cover tools that appear later, and survive changed ones', async () => {
    const { daemon, server } = await startWith({ tools: ['echo'], allow: ['mcp__s__*'] });
    await daemon.waitFor(async () => (await daemon.tools())[0].allowed);
    const echo = { name: 'echo', description: 'Another word.', inputSchema: { type: 'object' } };
    server.set({ tools: [echo, 'add'], orders: [{ id: 1, do: 'announce' }] });
    await daemon.waitForServer('s', (row) => row.tools === 2);
    expect((await ask(daemon, 'mcp__s__echo')).status).toBe(200);
    expect((await ask(daemon, 'mcp__s__add', { a: 1, b: 2 })).status).toBe(200);
  });

  it('go with their server, and the next server of that name inherits nothing', async () => {
    const { daemon, server } = await startWith({
      allow: ['# kept', 'mcp__s__echo', 'mcp__t__*', 'mcp__u__echo'],
      more: { t: stdioEntry({ behaviour: { tools: ['echo'] } }), u: stdioEntry({ behaviour: { tools: ['echo'] } }) },
    });
    for (const name of ['t', 'u']) await daemon.waitForServer(name, 'ready');
    await daemon.waitFor(async () => (await grantsOf(daemon)).entries.length === 3);
    expect((await daemon.api('POST', '/v1/mcp/remove', { name: 's' })).body).toEqual({ ok: true });
    expect((await grantsOf(daemon)).entries).toEqual(['mcp__t__*', 'mcp__u__echo']);
    expect(allowText(daemon)).toBe('# kept\nmcp__t__*\nmcp__u__echo\n');
    expect((await daemon.tools('t')).length).toBe(1);
    expect((await daemon.tools()).map(({ server: of }) => of)).not.toContain('s');

    // The same by hand.
    daemon.writeConfig({ u: stdioEntry({ behaviour: { tools: ['echo'] } }) });
    await daemon.waitFor(async () => (await grantsOf(daemon)).entries.length === 1);
    expect(allowText(daemon)).toBe('# kept\nmcp__u__echo\n');

    await daemon.api('POST', '/v1/mcp', { name: 's', server: stdioEntry(server.options) });
    await daemon.waitForServer('s', 'ready');
    expect((await ask(daemon, 'mcp__s__echo')).status).toBe(202);
  });
});

describe('a call that needs a person', () => {
  let daemon: Daemon;
  let server: Steered;
  beforeAll(async () => {
    ({ daemon, server } = await startWith({ approval: { windowMs: 700 } }));
  });

  it('is answered with its id when the window ends, and runs once when it is approved and comes again', async () => {
    const { file, count } = effects();
    const args = { file, ms: 1, exit: false };
    const first = await ask(daemon, 'mcp__s__counter', args, { wait: true });
    expect(first.status).toBe(202);
    expect(first.body).toMatchObject({ state: 'held', call: expect.any(String), expiresAt: expect.any(String) });
    expect(first.body.detail).toContain(`watchkeeper approve ${first.body.call}`);
    expect(Date.parse(first.body.expiresAt)).toBeGreaterThan(Date.now() + 500_000);
    expect(await heldCall(daemon)).toMatchObject({ id: first.body.call, arguments: args, mode: 'ask', outcome: null });

    const approved = await post(daemon, `${first.body.call}/approve`);
    expect([approved.status, approved.body.state]).toEqual([200, 'approved']);
    await meanwhile(300);
    expect(count()).toBe(0);
    // Other arguments are another call.
    const other = await ask(daemon, 'mcp__s__counter', { ...args, ms: 2 });
    expect(other.status).toBe(202);
    expect(other.body.call).not.toBe(first.body.call);
    await post(daemon, `${other.body.call}/deny`);

    const again = await ask(daemon, 'mcp__s__counter', { exit: false, ms: 1, file }, { wait: true });
    expect([again.status, again.body.outcome, again.body.call]).toEqual([200, 'succeeded', first.body.call]);
    expect(count()).toBe(1);
    expect((await ask(daemon, 'mcp__s__counter', args)).status).toBe(202);
    expect(count()).toBe(1);
    await post(daemon, `${(await heldCall(daemon)).id}/cancel`);
  });

  it('is answered at once when nobody wants to wait, and runs when it is approved', async () => {
    const { file, count } = effects();
    const { status, body } = await ask(daemon, 'mcp__s__counter', { file });
    expect([status, body.state]).toEqual([202, 'held']);
    expect(count()).toBe(0);
    await post(daemon, `${body.call}/approve`, { remember: 'once' });
    const ended = await settled(daemon, body.call);
    expect(ended).toMatchObject({ outcome: 'succeeded', decidedBy: 'main', result: { content: [{ text: '1' }] } });
    expect(ended.arguments).toBeUndefined();
    expect(count()).toBe(1);
    expect((await grantsOf(daemon)).entries).toEqual([]);
  });

  it('that was approved runs for one who comes again without waiting', async () => {
    const first = await ask(daemon, 'mcp__s__echo', { text: 'approved' }, { wait: true });
    await post(daemon, `${first.body.call}/approve`);
    const again = await ask(daemon, 'mcp__s__echo', { text: 'approved' });
    expect([again.status, textOf(again), again.body.call]).toEqual([200, 'approved', first.body.call]);
  });

  it('is one call however often it is asked for', async () => {
    const args = { text: 'twice' };
    const one = await ask(daemon, 'mcp__s__echo', args);
    const two = await ask(daemon, 'mcp__s__echo', args);
    expect(two.body).toEqual(one.body);
    expect(await callsOf(daemon, '?state=held')).toHaveLength(1);
    // Who does not have to wait does not.
    const allowed = await daemon.call('mcp__s__echo', args);
    expect([allowed.status, textOf(allowed)]).toEqual([200, 'twice']);
    expect((await ask(daemon, 'mcp__s__echo', args, { permission_mode: 'deny' })).status).toBe(403);
    await replace(daemon, 'mcp__s__', ['mcp__s__echo']);
    const granted = await ask(daemon, 'mcp__s__echo', args);
    expect([granted.status, textOf(granted)]).toEqual([200, 'twice']);
    await replace(daemon, 'mcp__s__', []);
    await post(daemon, `${one.body.call}/deny`);
  });

  it('keeps no result of calls that needed nobody', async () => {
    const { body } = await daemon.call('mcp__s__echo', { text: 'gone' });
    expect(await callById(daemon, body.call)).not.toHaveProperty('result');
  });

  it('is not repeated by an approval of what has changed since, nor remembered', async () => {
    const { file, count } = effects();
    const { body } = await ask(daemon, 'mcp__s__counter', { file });
    const counter = { name: 'counter', description: 'Something else.', inputSchema: { type: 'object' } };
    server.set({ tools: ['echo', 'add', counter, 'sleep'], orders: [{ id: 'changed', do: 'announce' }] });
    await daemon.waitFor(async () =>
      (await daemon.tools()).some(({ description }) => description === 'Something else.'),
    );
    const approved = await post(daemon, `${body.call}/approve`, { remember: 'tool' });
    expect(approved.body).toMatchObject({
      state: 'settled',
      outcome: 'refused',
      reason: expect.stringMatching(/changed/),
    });
    expect(count()).toBe(0);
    expect(await grantsOf(daemon)).toEqual({ entries: [], suspended: [] });
    expect(allowText(daemon)).toBe('');
  });
});

describe('a person', () => {
  let daemon: Daemon;
  let server: Steered;
  beforeAll(async () => {
    ({ daemon, server } = await startWith({ approval: { windowMs: 25_000 } }));
  });
  const begin = (tool: string, args: Record<string, unknown>) => beginCall(daemon, { tool, arguments: args });

  it('lets a waiting call run at once, and its answer goes to the one who waits', async () => {
    const { answer } = begin('mcp__s__echo', { text: 'at last' });
    const { id } = await heldCall(daemon);
    const approved = await post(daemon, `${id}/approve`);
    expect(approved.status).toBe(200);
    const { status, body } = await answer;
    expect([status, body.outcome, body.call, body.content[0].text]).toEqual([200, 'succeeded', id, 'at last']);
    expect((await daemon.events({ stream: `call-${id}` })).map(({ type, data }) => [type, data.to])).toEqual([
      ['CallHeld', 'held'],
      ['CallApproved', 'approved'],
      ['CallStarted', 'running'],
      ['CallSettled', 'settled'],
    ]);
  });

  it('denies one with a reason, which the caller is told', async () => {
    const { file, count } = effects();
    const { answer } = begin('mcp__s__counter', { file });
    const { id } = await heldCall(daemon);
    const denied = await post(daemon, `${id}/deny`, { reason: 'Not on this branch.' });
    expect([denied.status, denied.body.outcome, denied.body.decidedBy]).toEqual([200, 'denied', 'main']);
    const { status, body } = await answer;
    expect([status, body.code, body.outcome, body.call, body.detail]).toEqual([
      403,
      'call-denied',
      'denied',
      id,
      'Not on this branch.',
    ]);
    expect(count()).toBe(0);
    expect(await callById(daemon, id)).toMatchObject({ outcome: 'denied', reason: 'Not on this branch.' });
    for (const decision of ['approve', 'deny', 'cancel']) {
      const late = await post(daemon, `${id}/${decision}`);
      expect([decision, late.status, late.body.code]).toEqual([decision, 409, 'call-not-held']);
    }
  });

  it('denies one without a word, and the caller is told that a person did', async () => {
    const { answer } = begin('mcp__s__echo', { text: 'no' });
    await post(daemon, `${(await heldCall(daemon)).id}/deny`);
    const { body } = await answer;
    expect([body.status, body.outcome]).toEqual([403, 'denied']);
    expect(body.detail).toMatch(/denied/);
  });

  it('cancels one, and nothing was sent', async () => {
    const before = server.counted('tools/call');
    const { answer } = begin('mcp__s__echo', { text: 'never' });
    const { id } = await heldCall(daemon);
    const cancelled = await post(daemon, `${id}/cancel`);
    expect([cancelled.status, cancelled.body.outcome]).toEqual([200, 'cancelled']);
    const { body } = await answer;
    expect([body.status, body.code, body.outcome]).toEqual([409, 'call-cancelled', 'cancelled']);
    expect(server.counted('tools/call')).toBe(before);
  });

  it('and another who approve at the same moment let it run once', async () => {
    const { file, count } = effects();
    const { answer } = begin('mcp__s__counter', { file, ms: 50 });
    const { id } = await heldCall(daemon);
    const approvals = await Promise.all([1, 2, 3].map(() => post(daemon, `${id}/approve`)));
    expect(approvals.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect((await answer).body.outcome).toBe('succeeded');
    expect(count()).toBe(1);
  });

  it('has no call to decide about under an id that never was', async () => {
    for (const path of ['nosuchcall/approve', 'nosuchcall/deny', 'nosuchcall/cancel']) {
      const { status, body } = await post(daemon, path);
      expect([path, status, body.code]).toEqual([path, 404, 'unknown-call']);
    }
    expect((await daemon.api('GET', '/v1/mcp/calls/nosuchcall')).status).toBe(404);
  });

  it('may remember the tool: it runs without asking from then on', async () => {
    const { answer } = begin('mcp__s__echo', { text: 'one' });
    await post(daemon, `${(await heldCall(daemon)).id}/approve`, { remember: 'tool' });
    await answer;
    expect(await grantsOf(daemon)).toEqual({ entries: ['mcp__s__echo'], suspended: [] });
    expect(allowText(daemon)).toBe('mcp__s__echo\n');
    expect((await ask(daemon, 'mcp__s__echo', { text: 'two' })).status).toBe(200);
    expect((await ask(daemon, 'mcp__s__add', { a: 1, b: 1 })).status).toBe(202);
    await post(daemon, `${(await heldCall(daemon)).id}/cancel`);
  });

  it('may remember the server: all its tools run without asking from then on', async () => {
    const { answer } = begin('mcp__s__sleep', { ms: 1 });
    await post(daemon, `${(await heldCall(daemon)).id}/approve`, { remember: 'server' });
    await answer;
    expect(allowText(daemon)).toContain('mcp__s__*\n');
    expect((await ask(daemon, 'mcp__s__add', { a: 1, b: 1 })).status).toBe(200);
    await daemon.restart();
    await daemon.waitForServer('s', 'ready');
    expect((await ask(daemon, 'mcp__s__sleep', { ms: 2 })).status).toBe(200);
    await replace(daemon, 'mcp__s__', []);
  });

  it('renews a suspended grant by approving with it', async () => {
    await replace(daemon, 'mcp__s__', ['mcp__s__echo']);
    const echo = { name: 'echo', description: 'Changed.', inputSchema: { type: 'object' } };
    server.set({ tools: [echo, 'add', 'counter', 'sleep'], orders: [{ id: 'changed', do: 'announce' }] });
    await daemon.waitFor(async () => (await grantsOf(daemon)).suspended.length === 1);
    const { answer } = begin('mcp__s__echo', { text: 'still good' });
    const { id, unusual } = await heldCall(daemon);
    expect(unusual).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^mcp__s__echo was allowed, but the tool changed/),
        expect.stringMatching(/^Its definition changed/),
      ]),
    );
    await post(daemon, `${id}/approve`, { remember: 'tool' });
    await answer;
    expect(await grantsOf(daemon)).toEqual({ entries: ['mcp__s__echo'], suspended: [] });
    expect((await ask(daemon, 'mcp__s__echo', { text: 'again' })).status).toBe(200);
  });
});

describe('a held call', () => {
  it('expires, whether somebody waits for it or not', async () => {
    const { daemon, server } = await startWith({ approval: { windowMs: 25_000, holdMs: 600 } });
    const { answer } = beginCall(daemon, { tool: 'mcp__s__echo', arguments: { text: 'waits' } });
    const left = await ask(daemon, 'mcp__s__echo', { text: 'left alone' });
    const { body } = await answer;
    expect([body.status, body.code, body.outcome]).toEqual([403, 'call-expired', 'expired']);
    expect(await settled(daemon, left.body.call)).toMatchObject({ outcome: 'expired' });
    expect((await post(daemon, `${left.body.call}/approve`)).status).toBe(409);
    expect(server.counted('tools/call')).toBe(0);
  });

  it('expires when it was approved and nobody came for it', async () => {
    const { daemon, server } = await startWith({ approval: { windowMs: 50, holdMs: 2500 } });
    const { body } = await ask(daemon, 'mcp__s__echo', { text: 'forgotten' }, { wait: true });
    expect((await post(daemon, `${body.call}/approve`)).body.state).toBe('approved');
    expect(await settled(daemon, body.call)).toMatchObject({ outcome: 'expired' });
    expect(server.counted('tools/call')).toBe(0);
  });

  it('is abandoned when the daemon stops, and the one who waits is told', async () => {
    const { daemon } = await startWith({ approval: { windowMs: 25_000 } });
    const { answer } = beginCall(daemon, { tool: 'mcp__s__echo', arguments: { text: 'waits' } });
    const { id } = await heldCall(daemon);
    const left = (await ask(daemon, 'mcp__s__add', { a: 1 })).body.call;
    await daemon.stop();
    const { body } = await answer;
    expect([body.status, body.outcome, body.call]).toEqual([503, 'abandoned', id]);
    await daemon.restart();
    for (const call of [id, left]) {
      expect(await callById(daemon, call)).toMatchObject({ state: 'settled', outcome: 'abandoned' });
      expect((await post(daemon, `${call}/approve`)).status).toBe(409);
    }
    expect(await callsOf(daemon, '?state=held')).toEqual([]);
  });

  it('is abandoned when the daemon is killed, and a call that ran may have run', async () => {
    const { daemon } = await startWith();
    const held = (await ask(daemon, 'mcp__s__add', { a: 1 })).body.call;
    beginCall(daemon, { tool: 'mcp__s__sleep', arguments: { ms: 20_000 }, allow_all: true });
    const [running] = await daemon.waitFor(async () => {
      const calls = await callsOf(daemon, '?state=running');
      return calls.length === 1 && calls;
    });
    await daemon.kill();
    await daemon.restart();
    expect(await callById(daemon, held)).toMatchObject({ state: 'settled', outcome: 'abandoned' });
    expect(await callById(daemon, running.id)).toMatchObject({ state: 'settled', outcome: 'unknown' });
  });

  it('waits for its server when it is approved while that is away', async () => {
    const fake = await httpFake({ behaviour: { tools: ['echo'] } });
    const daemon = await startDaemon({
      servers: { web: httpEntry(fake) },
      settings: { approval: { windowMs: 25_000 } },
    });
    await daemon.waitForServer('web', 'ready');
    const { answer } = beginCall(daemon, { tool: 'mcp__web__echo', arguments: { text: 'patience' } });
    const { id } = await heldCall(daemon);
    fake.control.set({ answers: { initialize: { delayMs: 2000 } } });
    const reconnected = daemon.api('POST', '/v1/mcp/reconnect', { name: 'web' });
    await daemon.waitForServer('web', ({ state }) => state !== 'ready');
    await post(daemon, `${id}/approve`);
    const { body } = await answer;
    expect([body.outcome, body.call, body.content?.[0].text]).toEqual(['succeeded', id, 'patience']);
    await reconnected;
  });
});

describe('a call that cannot be made', () => {
  let daemon: Daemon;
  let pipe: Steered;
  beforeAll(async () => {
    pipe = steered();
    daemon = await startDaemon({
      servers: {
        off: stdioEntry({}, { disabled: true }),
        picky: stdioEntry({}, { include: ['e*', 'add'], exclude: ['err*'] }),
        s: stdioEntry(pipe.options, { callTimeoutMs: 400 }),
        wrong: { command: 'x', url: 'http://127.0.0.1:9/' },
      },
    });
    for (const name of ['picky', 's']) await daemon.waitForServer(name, 'ready');
  });

  it.each([
    ['a tool that is not there', 'mcp__s__nothing', /watchkeeper tools/],
    ['a tool of a server that is not there', 'mcp__nobody__echo', /watchkeeper tools/],
    ['something that is no name', 'echo', /watchkeeper tools/],
    ['a tool of a server that is disabled', 'mcp__off__echo', /disabled/],
    ['a tool that is excluded', 'mcp__picky__error', /no tool/],
    ['a tool that is not included', 'mcp__picky__sleep', /no tool/],
    ['a tool of an entry with an error', 'mcp__wrong__echo', /failed/],
  ])('is a 404: %s', async (_title, tool, detail) => {
    const { status, body } = await daemon.call(tool);
    expect([status, body.code]).toEqual([404, 'unknown-tool']);
    expect(body.detail).toMatch(detail);
    expect(body.error).toBe(body.detail);
  });

  it('shows only the tools that are included and not excluded', async () => {
    expect((await daemon.tools('picky')).map(({ tool }) => tool)).toEqual(['add', 'echo', 'empty', 'endless']);
    expect(await daemon.tools('off')).toEqual([]);
  });

  it.each([
    ['no tool', { arguments: {} }],
    ['arguments that are a list', { tool: 'mcp__s__echo', arguments: [] }],
    ['arguments that are a text', { tool: 'mcp__s__echo', arguments: '{}' }],
    ['a limit that is none', { tool: 'mcp__s__echo', timeout_ms: 0 }],
    ['a member nobody knows', { tool: 'mcp__s__echo', permision_mode: 'deny' }],
  ])('is a 400: %s', async (_title, body) => {
    const before = pipe.counted('tools/call');
    expect((await daemon.api('POST', '/v1/mcp/call', body)).status).toBe(400);
    expect(pipe.counted('tools/call')).toBe(before);
  });

  it('is a 504 when the limit is reached, and a 502 when the server is lost: both may have run', async () => {
    const late = await daemon.call('mcp__s__sleep', { ms: 20_000 });
    expect([late.status, late.body.code, late.body.outcome]).toEqual([504, 'call-timeout', 'unknown']);
    const { file, count } = effects();
    const lost = await daemon.call('mcp__s__counter', { file, exit: true });
    expect([lost.status, lost.body.code, lost.body.outcome]).toEqual([502, 'server-lost', 'unknown']);
    expect(lost.body.detail).toMatch(/may have run/);
    await daemon.waitForServer('s', 'ready');
    // It is not run again by itself.
    await meanwhile(300);
    expect(count()).toBe(1);
    expect(await callById(daemon, lost.body.call)).toMatchObject({ state: 'settled', outcome: 'unknown' });
  });
});

describe('the ledger', () => {
  it('lists calls latest first, page by page, by state and by server', async () => {
    const { daemon } = await startWith({ more: { t: stdioEntry({ behaviour: { tools: ['echo'] } }) } });
    await daemon.waitForServer('t', 'ready');
    const ids: string[] = [];
    for (let n = 0; n < 7; n += 1) {
      const { body } = await daemon.call(n % 3 === 0 ? 'mcp__t__echo' : 'mcp__s__echo', { text: `call ${n}` });
      ids.unshift(body.call);
    }
    const held = (await ask(daemon, 'mcp__t__echo', { text: 'held' })).body.call;
    ids.unshift(held);

    const pages: string[][] = [];
    for (let before: string | null = ''; before !== null; ) {
      const query: string = before === '' ? '?limit=3' : `?limit=3&before=${before}`;
      const { body } = await daemon.api('GET', `/v1/mcp/calls${query}`);
      pages.push(body.calls.map(({ id }: any) => id));
      before = body.next;
    }
    expect(pages).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)]);
    expect((await callsOf(daemon, '?server=t')).map(({ id }) => id)).toEqual([ids[0], ids[1], ids[4], ids[7]]);
    expect(await callsOf(daemon, '?name=t&state=settled')).toHaveLength(3);
    expect((await callsOf(daemon, '?state=held')).map(({ id }) => id)).toEqual([held]);
    expect((await callsOf(daemon, '?state=settled&limit=1'))[0]).toMatchObject({
      id: ids[1],
      server: 't',
      tool: 'echo',
      name: 'mcp__t__echo',
      state: 'settled',
      outcome: 'succeeded',
      mode: 'allow-all',
      client: 'main',
      door: 'http',
      argsBytes: '{"text":"call 6"}'.length,
      argsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      resultBytes: 6,
      truncated: false,
    });

    const wrong = ['?state=lost', '?limit=0', '?limit=1001', '?limit=x', '?colour=red', '?server=s&name=t'];
    for (const query of wrong) {
      expect([query, (await daemon.api('GET', `/v1/mcp/calls${query}`)).status]).toEqual([query, 400]);
    }
    expect((await daemon.api('GET', '/v1/mcp/calls?before=nosuchcall')).status).toBe(404);
  });
});
