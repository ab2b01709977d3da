/** What a reviewer asks: is a held call shown for what it is, who may decide where, what changed, and is the log whole. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeAll, describe, expect, it } from 'vitest';
import { legacyClient, modernClient, nextOf, streamed } from '../hub/client.ts';
import { type Daemon, runCli, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { callsOf, heldCall } from './given.ts';

const note = (description: string, more: object = {}) => ({
  name: 'note',
  description,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  ...more,
});

interface Given {
  readonly daemon: Daemon;
  readonly server: Steered;
  readonly cli: (...args: string[]) => Promise<{ code: number | null; stdout: string; stderr: string }>;
}

async function given(
  tools: readonly unknown[] = ['echo', 'add', 'die'],
  more: { allow?: string[]; entry?: object; settings?: object } = {},
): Promise<Given> {
  const server = steered({ behaviour: { tools: tools as never } });
  const daemon = await startDaemon({
    servers: { s: stdioEntry(server.options, { ...more.entry }) },
    settings: { approval: { windowMs: 20_000 }, ...more.settings },
    ...(more.allow ? { allow: more.allow } : {}),
  });
  await daemon.waitForServer('s', 'ready');
  return { daemon, server, cli: (...args) => runCli(daemon, args) };
}

const hold = async (daemon: Daemon, tool: string, args: object = {}): Promise<any> => {
  const { body } = await daemon.api('POST', '/v1/mcp/call', { tool, arguments: args, wait: false });
  return (await daemon.api('GET', `/v1/mcp/calls/${body.call}`)).body;
};

describe('A held call is shown with', () => {
  it('its arguments, the entry of its server without secrets, hashes, and what is unusual', async () => {
    const { daemon, server, cli } = await given([note('Takes a note.', { annotations: { destructiveHint: true } })], {
      entry: { env: { API_TOKEN: 'literal-secret-1' } },
    });
    const held = await hold(daemon, 'mcp__s__note', { text: 'hello', __proto__x: 1 });
    expect(held).toMatchObject({
      state: 'held',
      arguments: { text: 'hello', __proto__x: 1 },
      identity: expect.stringMatching(/^[0-9a-f]{64}$/),
      definition: (await daemon.tools())[0].hash,
      server_entry: { command: process.execPath, env: { API_TOKEN: '***' } },
      description: 'Takes a note.',
      unusual: [
        'This tool was never called before.',
        "Its server calls it destructive; that is the server's own word.",
      ],
    });
    const shown = await cli('approvals', held.id.slice(0, 8));
    expect(shown.stdout).toContain(held.definition);
    expect(shown.stdout).toContain('"text": "hello"');
    expect(shown.stdout).not.toContain('literal-secret-1');

    // Approved, it is no longer the first; changed, that is said.
    await daemon.api('POST', `/v1/mcp/calls/${held.id}/approve`, {});
    await daemon.waitFor(() => server.counted('tools/call') === 1);
    server.set({ tools: [note('Loses a note.')] as never, orders: [{ id: 1, do: 'announce' }] });
    await daemon.waitFor(async () => (await daemon.tools())[0].description === 'Loses a note.');
    const later = await hold(daemon, 'mcp__s__note', { text: 'again' });
    expect(later.unusual).toEqual([
      expect.stringMatching(/^Its definition changed \d+ m?s( \d+ ms)? ago\. See how: watchkeeper tools s --changes/),
    ]);
    expect(server.counted('tools/call')).toBe(1);
  });

  it('a key called __proto__ like any other, from the command line to the server', async () => {
    const { daemon, cli } = await given(['echo']);
    const { stdout } = await cli('call', 's.echo', '__proto__={"a":1}', 'text=x', '--json');
    const { call } = JSON.parse(stdout);
    const text = await (
      await fetch(`${daemon.url}/v1/mcp/calls/${call}`, { headers: { authorization: `Bearer ${daemon.token}` } })
    ).text();
    expect(text).toContain('"arguments":{"__proto__":{"a":1},"text":"x"}');
  });
});

describe('A client in which the person is asked', { timeout: 60_000 }, () => {
  let here: Given;
  const tokens: Record<string, string> = {};
  const able = { elicitation: { form: {} } };
  beforeAll(async () => {
    here = await given();
    for (const [client, ...options] of [['claude-code', '--ask-in-client', 'on'], ['codex']] as const) {
      const { stdout } = await here.cli('connect', client, ...options, '--json');
      tokens[client] = JSON.parse(stdout).token.value;
    }
  });
  const as = (client: string): Daemon => ({ url: here.daemon.url, token: tokens[client] }) as unknown as Daemon;
  let n = 0;
  const params = () => {
    n += 1;
    return { name: 's__add', arguments: { a: n, b: 1 } };
  };
  const begin = async (client: string) => {
    const speaker = await legacyClient(as(client), '/mcp', { capabilities: able });
    const stream = streamed(await speaker.open({ id: 1, method: 'tools/call', params: params() }));
    return { speaker, stream };
  };

  it('lets the call run when the person there says so, once', async () => {
    const { speaker, stream } = await begin('claude-code');
    const asked = await nextOf(stream, ({ method }) => method === 'elicitation/create');
    expect(asked.params.message).toMatch(/mcp__s__add wants to run[\s\S]*"b": 1/);
    expect(here.server.counted('tools/call')).toBe(0);
    await speaker.answer(asked.id, { action: 'accept', content: { run: true } });
    const { result } = await nextOf(stream, ({ id }) => id === 1);
    expect(result.content[0].text).toBe('2');
    const [call] = await callsOf(here.daemon);
    expect(call).toMatchObject({
      outcome: 'succeeded',
      verdict: 'approved',
      decidedBy: 'claude-code (asked in the client)',
    });
    expect((await here.daemon.api('GET', '/v1/allowlist')).body.tool.entries).toEqual([]);
  });

  it.each([
    [{ action: 'decline' }, /did not run/],
    [{ action: 'accept', content: { run: false, reason: 'ask me tomorrow' } }, /ask me tomorrow/i],
  ])('does not let it run when the person says %j, and the model reads why', async (answer, says) => {
    const before = here.server.counted('tools/call');
    const { speaker, stream } = await begin('claude-code');
    const asked = await nextOf(stream, ({ method }) => method === 'elicitation/create');
    await speaker.answer(asked.id, answer);
    const { result } = await nextOf(stream, ({ id }) => id === 1);
    expect(result).toMatchObject({ isError: true, _meta: { 'watchkeeper/outcome': 'denied' } });
    expect(result.content[0].text).toMatch(says);
    expect(here.server.counted('tools/call')).toBe(before);
  });

  it('leaves it held when the person there turns away, and takes a decision from elsewhere', async () => {
    const { speaker, stream } = await begin('claude-code');
    const asked = await nextOf(stream, ({ method }) => method === 'elicitation/create');
    await speaker.answer(asked.id, { action: 'cancel' });
    const held = await heldCall(here.daemon);
    expect((await here.cli('approve', held.id)).code).toBe(0);
    expect((await nextOf(stream, ({ id }) => id === 1)).result.isError).toBeUndefined();
  });

  it('is asked by the answer itself where it is modern, and goes on with the same call', async () => {
    const client = modernClient(as('claude-code'), '/mcp', able);
    const call = params();
    const first = (await client.ask('tools/call', call)).body.result;
    expect(first).toMatchObject({ resultType: 'input_required' });
    const [key = '', request] = Object.entries<any>(first.inputRequests)[0] ?? [];
    expect(request.params.message).toContain('mcp__s__add wants to run');
    const inputResponses = { [key]: { action: 'accept', content: { run: true } } };
    const { result } = (await client.ask('tools/call', { ...call, requestState: first.requestState, inputResponses }))
      .body;
    expect(result).toMatchObject({ resultType: 'complete', _meta: { 'watchkeeper/outcome': 'succeeded' } });
  });

  it('is none unless that was set for it: nobody can decide there', async () => {
    const before = here.server.counted('tools/call');
    const { stream } = await begin('codex');
    const held = await heldCall(here.daemon);
    await here.cli('deny', held.id);
    const messages = [];
    for await (const message of stream) {
      messages.push(message.method ?? message.id);
      if (message.id === 1) break;
    }
    expect(messages).not.toContain('elicitation/create');
    expect(here.server.counted('tools/call')).toBe(before);
  });
});

describe('Grants of every single tool', () => {
  it('are no grant of the server: a tool that comes later asks', async () => {
    const { daemon, server } = await given([note('Takes a note.'), 'echo']);
    const prefix = 'mcp__s__';
    const all = (await daemon.tools('s')).map(({ name }) => name);
    const { body } = await daemon.api('POST', '/v1/allowlist', { tool: { prefix, entries: all } });
    expect(body.tool.entries).toEqual(all);
    server.set({ tools: [note('Takes a note.'), 'echo', 'add'] as never, orders: [{ id: 1, do: 'announce' }] });
    await daemon.waitForServer('s', (row) => row.tools === 3);
    const { status } = await daemon.api('POST', '/v1/mcp/call', { tool: 'mcp__s__add', arguments: {}, wait: false });
    expect([status, server.counted('tools/call')]).toEqual([202, 0]);
  });

  it('match letter by letter, whatever a tool is called', async () => {
    const odd = ['*', 'a(b', 'a', '__', 'x*'].map((name) => ({ name, inputSchema: { type: 'object' } }));
    const { daemon, server } = await given(odd);
    const listed = await daemon.tools('s');
    const star = listed.find(({ tool }) => tool === '*').name;
    await daemon.api('POST', '/v1/allowlist', { tool: { prefix: 'mcp__s__', entries: [star] } });
    const allowed = (await daemon.tools('s')).filter(({ allowed: is }) => is).map(({ tool }) => tool);
    expect(allowed).toEqual(['*']);
    for (const { name, tool } of listed.filter(({ tool: other }) => other !== '*')) {
      const { status } = await daemon.api('POST', '/v1/mcp/call', { tool: name, arguments: {}, wait: false });
      expect([tool, status]).toEqual([tool, 202]);
    }
    expect(server.counted('tools/call')).toBe(0);
  });
});

describe('A definition that changes under a grant', () => {
  it('suspends it, and before and after are shown word by word: over HTTP, by allow and by changes', async () => {
    const { daemon, server, cli } = await given([note('Takes a short note.'), 'echo'], {
      allow: ['mcp__s__note', 'mcp__s__echo'],
    });
    await daemon.waitFor(async () => (await daemon.tools()).every(({ allowed }) => allowed));
    server.set({ tools: [note('Takes a secret note.'), 'echo', 'add'] as never, orders: [{ id: 1, do: 'announce' }] });
    await daemon.waitFor(async () => (await daemon.api('GET', '/v1/allowlist')).body.tool.suspended.length === 1);
    const { body } = await daemon.api('POST', '/v1/mcp/call', { tool: 'mcp__s__note', arguments: {}, wait: false });
    expect([body.state, server.counted('tools/call')]).toEqual(['held', 0]);

    const words = [
      {
        path: 'description',
        pieces: [
          { kind: 'same', text: 'Takes a ' },
          { kind: 'removed', text: 'short' },
          { kind: 'added', text: 'secret' },
          { kind: 'same', text: ' note.' },
        ],
      },
    ];
    const { suspended } = (await daemon.api('GET', '/v1/allowlist/suspended')).body;
    expect(suspended).toMatchObject([{ entry: 'mcp__s__note', changed: 'tool', words }]);
    expect(suspended[0].before.definition).not.toBe(suspended[0].after.definition);
    expect((await cli('allow')).stdout).toContain('description: Takes a [-short-]{+secret+} note.');

    const { changes } = (await daemon.api('GET', '/v1/mcp/tools/changes')).body;
    expect(changes).toMatchObject([
      { name: 'mcp__s__note', change: 'changed', words, grant: { entry: 'mcp__s__note', suspended: true } },
      { name: 'mcp__s__add', change: 'added', words: [], grant: null },
    ]);
    const { stdout } = await cli('changes');
    expect(stdout).toMatch(
      /~ mcp__s__note {2}its grant is suspended\n {4}description: Takes a \[-short-\]\{\+secret\+\} note\.\n/,
    );
    expect(stdout).toMatch(/\+ mcp__s__add\n/);
    expect((await daemon.api('GET', `/v1/mcp/tools/changes?from=${changes[0].position}`)).body.changes).toEqual([]);
  });
});

describe('A call whose outcome nobody knows', () => {
  it('is listed until a person closes it, by the command line', async () => {
    const { daemon, cli } = await given();
    const lost = await daemon.call('mcp__s__die');
    expect(lost.body.outcome).toBe('unknown');
    await daemon.call('mcp__s__nothing');
    const open = await cli('ledger', '--open');
    expect(open.stdout).toContain(lost.body.call);
    expect(open.stderr).toContain(`ledger close ${lost.body.call}`);
    expect((await cli('ledger', 'close', lost.body.call)).code).toBe(2);
    const closed = await cli('ledger', 'close', lost.body.call, '--finding', 'ran', '--note', 'It is dead.', '--json');
    expect(JSON.parse(closed.stdout).closed).toMatchObject({ finding: 'ran', note: 'It is dead.', by: 'socket' });
    expect((await cli('ledger', '--open')).stdout).toBe('Of every call it is known how it ended.\n');
    expect((await cli('ledger', 'close', lost.body.call, '--finding', 'not-run')).code).toBe(1);
    const shown = (await cli('ledger', 'show', lost.body.call)).stdout;
    expect(shown).toMatch(/closed\s+ran, by socket.*It is dead\./);
    expect(shown).toContain('CallClosed');
    // It survives a rebuild: the facts say so.
    await daemon.api('POST', '/v1/rebuild');
    expect((await daemon.api('GET', `/v1/mcp/calls/${lost.body.call}`)).body.closed.finding).toBe('ran');
  });
});

describe('Repeating a call', () => {
  it.each([
    [undefined, 1, 'unknown'],
    ['never', 1, 'unknown'],
    ['idempotent', 2, 'succeeded'],
  ])('whose connection was lost is a matter of the entry (repeatCalls %s)', async (policy, times, outcome) => {
    const slow = {
      name: 'sleep',
      description: 'x',
      inputSchema: { type: 'object' },
      annotations: { idempotentHint: true },
    };
    const { daemon, server } = await given([slow], policy === undefined ? {} : { entry: { repeatCalls: policy } });
    const call = daemon.call('mcp__s__sleep', { ms: 400 });
    await daemon.waitFor(() => server.counted('tools/call') === 1);
    process.kill(server.pid(), 'SIGKILL');
    expect((await call).body.outcome).toBe(outcome);
    expect(server.counted('tools/call')).toBe(times);
  });
});

describe('A client with a rate', () => {
  it('is refused what is too much, through HTTP and at the endpoint alike', async () => {
    const { daemon, server, cli } = await given(['echo'], { allow: ['mcp__s__*'] });
    const { stdout } = await cli('connect', 'claude-code', '--rate', '2', '--json');
    const token = JSON.parse(stdout).token.value;
    const client = await legacyClient({ url: daemon.url, token } as unknown as Daemon, '/mcp');
    const call = () =>
      daemon.api('POST', '/v1/mcp/call', { tool: 'mcp__s__echo', arguments: {} }, { authorization: `Bearer ${token}` });
    expect((await call()).status).toBe(200);
    expect((await client.ask('tools/call', { name: 's__echo', arguments: {} })).body.result.isError).toBeUndefined();
    const refused = await call();
    expect([refused.status, refused.body.outcome]).toEqual([403, 'refused']);
    expect(refused.body.detail).toMatch(/may make 2 calls a minute/);
    const { result } = (await client.ask('tools/call', { name: 's__echo', arguments: {} })).body;
    expect(result.content[0].text).toMatch(/may make 2 calls a minute[\s\S]*call less often/);
    expect(server.counted('tools/call')).toBe(2);
    expect((await callsOf(daemon, '?outcome=refused&client=claude-code')).length).toBe(2);
  });
});

describe('A client that sees one server', () => {
  it('is told of no other: tools, instructions, status, prompts and resources', async () => {
    const [one, two] = ['one', 'two'].map((name) =>
      stdioEntry({
        behaviour: {
          tools: ['echo'],
          instructions: `I am ${name}.`,
          prompts: [{ name: `ask-${name}` }],
          resources: [{ uri: `note://${name}`, name }],
        } as never,
      }),
    );
    const daemon = await startDaemon({ servers: { one, two } });
    for (const name of ['one', 'two']) await daemon.waitForServer(name, 'ready');
    const { stdout } = await runCli(daemon, ['connect', 'claude-code', '--servers', 'one', '--json']);
    const connected = JSON.parse(stdout);
    expect(connected.entries).toHaveLength(1);
    const token = connected.token.value;
    const get = async (path: string) =>
      JSON.stringify((await daemon.api('GET', path, undefined, { authorization: `Bearer ${token}` })).body);
    for (const path of ['/v1/mcp/tools', '/v1/mcp/instructions', '/v1/mcp/status', '/v1/mcp/status?at=9999'])
      expect([path, (await get(path)).includes('two')]).toEqual([path, false]);
    const mine = { url: daemon.url, token } as unknown as Daemon;
    const client = await legacyClient(mine, '/mcp');
    expect(client.greeting.instructions).toContain('I am one.');
    const seenBy = async (who: Awaited<ReturnType<typeof legacyClient>>): Promise<string> => {
      const seen = [JSON.stringify(who.greeting)];
      for (const method of ['tools/list', 'prompts/list', 'resources/list'])
        seen.push(JSON.stringify((await who.ask(method)).body.result));
      return seen.join();
    };
    const all = await seenBy(await legacyClient(daemon, '/mcp'));
    for (const name of ['one', 'two'])
      for (const what of [`I am ${name}.`, `${name}__echo`, `ask-${name}`, `note://${name}`])
        expect(all).toContain(what);
    const seen = await seenBy(client);
    expect(seen).toContain('one__echo');
    expect(seen).not.toContain('two');
    expect((await client.ask('resources/read', { uri: 'note://two' })).body.error).toBeDefined();
    expect((await client.ask('prompts/get', { name: 'two__ask-two' })).body.error).toBeDefined();
    expect((await modernClient(mine, '/mcp/two').ask('tools/list')).status).toBe(404);
  });
});

describe('The audit chain', () => {
  it('is whole after a life, is verified with and without the daemon, and shows an edit to one fact', async () => {
    const { daemon, cli } = await given();
    await daemon.call('mcp__s__echo', { text: 'x' });
    const { body } = await daemon.api('POST', '/v1/mcp/call', { tool: 'mcp__s__add', arguments: {}, wait: false });
    await daemon.api('POST', `/v1/mcp/calls/${body.call}/deny`, { reason: 'no' });
    const online = await cli('ledger', 'verify', '--json');
    expect([online.code, JSON.parse(online.stdout).ok]).toEqual([0, true]);
    const { hash } = JSON.parse(online.stdout).tip;

    await daemon.stop();
    const offline = await cli('ledger', 'verify', '--expect', hash);
    expect([offline.code, offline.stdout]).toEqual([
      0,
      expect.stringContaining('nothing is missing and nothing was changed'),
    ]);

    const db = new Database(join(daemon.dir, 'watchkeeper.db'));
    const at = db
      .prepare("select position from events where type = 'CallSettled' and data like '%denied%'")
      .pluck()
      .get();
    db.exec(`update events set data = replace(data, 'denied', 'succeeded') where position = ${at}`);
    db.close();
    const edited = await cli('ledger', 'verify');
    expect(edited.code).toBe(1);
    expect(edited.stdout).toContain(`Fact ${at} (CallSettled of call-${body.call}) is not what was written`);
    expect(edited.stdout).toContain('shows another outcome');
  });

  it('gives no grant that was written beside it', async () => {
    const { daemon, server } = await given([note('Takes a note.')], { allow: ['mcp__s__note'] });
    server.set({ tools: [note('Takes a secret note.')] as never });
    await daemon.api('POST', '/v1/mcp/reconnect', { name: 's' });
    const grants = async () => (await daemon.api('GET', '/v1/allowlist')).body.tool;
    const suspended = { entries: [], suspended: ['mcp__s__note'] };
    await daemon.waitFor(async () => (await grants()).suspended.length === 1);
    await daemon.stop();
    const db = new Database(join(daemon.dir, 'watchkeeper.db'));
    const now = db.prepare("select data from events where type = 'GrantSuspended'").pluck().get() as string;
    const grant = { entry: 'mcp__s__note', server: 's', tool: 'mcp__s__note', state: 'bound' };
    const forged = JSON.stringify({ grants: { mcp__s__note: { ...grant, binding: JSON.parse(now).after } } });
    db.prepare("update heads set context = ? where stream = 'allowlist'").run(forged);
    db.close();
    await daemon.restart();
    await daemon.waitForServer('s', 'ready');
    expect(await grants()).toEqual(suspended);
    expect((await daemon.call('mcp__s__note', {}, { permission_mode: 'deny' })).status).toBe(403);
  });

  it('is read without the daemon as with it: calls, one call with its facts, and changed definitions', async () => {
    const { daemon, server, cli } = await given([note('Takes a note.'), 'die']);
    await daemon.call('mcp__s__note', { text: 'x' }, { permission_mode: 'allow-all' });
    await daemon.call('mcp__s__die', {}, { permission_mode: 'allow-all' });
    await daemon.waitForServer('s', 'ready');
    server.set({ tools: [note('Takes a secret note.'), 'die'] as never });
    await daemon.api('POST', '/v1/mcp/reconnect', { name: 's' });
    const read = async (...args: string[]) => {
      const { code, stdout, stderr } = await cli(...args, '--json');
      return { code, body: JSON.parse(code === 0 ? stdout : stderr) };
    };
    expect((await read('changes', 's')).body.changes).toHaveLength(1);
    const [call] = await callsOf(daemon, '?outcome=unknown');
    const lines = [
      ['ledger'],
      ['ledger', 's', '--open'],
      ['ledger', '--limit', '1'],
      ['ledger', '--before', call.id],
      ['ledger', 'show', call.id],
      ['changes'],
      ['changes', 's'],
    ];
    const online: any[] = [];
    for (const line of lines) online.push((await read(...line)).body);
    await daemon.stop();
    for (const [index, line] of lines.entries()) {
      const { from: _, ...offline } = (await read(...line)).body;
      const { from: __, ...expected } = online[index];
      expect({ line, ...offline }).toEqual({ line, ...expected });
    }
    expect((await cli('ledger')).stderr).toContain('No daemon runs; this is what its log says.');
    expect((await read('ledger', 'show', 'zzz')).body.error).toBe('There is no call "zzz".');
    expect((await read('changes', 'zzz')).body.error).toBe('There is no server "zzz".');
  });
});

describe('Who gets hold of the disk', () => {
  it('finds neither arguments nor results nor tokens of clients, also of calls that waited for a person', async () => {
    const { daemon, cli } = await given(['echo']);
    const { stdout } = await cli('connect', 'claude-code', '--json');
    const token = JSON.parse(stdout).token.value;
    const mark = 'a-word-that-is-nowhere-else';
    await daemon.call('mcp__s__echo', { text: `${mark}-1` });
    const held = await hold(daemon, 'mcp__s__echo', { text: `${mark}-2` });
    await daemon.api('POST', `/v1/mcp/calls/${held.id}/approve`, {});
    await daemon.waitFor(async () => (await callsOf(daemon, '?state=settled')).length === 2);
    await hold(daemon, 'mcp__s__echo', { text: `${mark}-3` });
    await daemon.stop();
    const texts = filesIn(daemon.dir).map((file): [string, string] => [file, readFileSync(file, 'latin1')]);
    expect(texts.length).toBeGreaterThan(3);
    // What the search is able to find.
    expect(texts.some(([, text]) => text.includes('mcp__s__echo'))).toBe(true);
    expect(texts.filter(([, text]) => text.includes(mark) || text.includes(token)).map(([file]) => file)).toEqual([]);
    expect(daemon.stderr()).not.toContain(mark);
  });

  it.skipIf(process.platform === 'win32')(
    'is nobody but the owner: no file of the daemon can be read by others',
    async () => {
      const { daemon, cli } = await given(['echo']);
      await cli('connect', 'claude-code', '--json');
      await cli('allow', 's', '--all');
      expect(statSync(daemon.dir).mode & 0o077).toBe(0);
      for (const file of ['token', 'daemon.json', 'daemon.sock', 'clients.json'])
        expect([file, statSync(join(daemon.dir, file)).mode & 0o077]).toEqual([file, 0]);
      expect(statSync(join(dirname(daemon.config), 'allow_tool')).mode & 0o077).toBe(0);
    },
  );
});

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
