import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { HttpFake } from '../fixtures/http-server.mjs';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { childrenOf } from '../support/processes.ts';
import { tempDir } from '../support/temp.ts';
import { httpEntry, httpFake, meanwhile, positionOf } from './given.ts';

const fileOf = (daemon: Daemon): string => readFileSync(daemon.config, 'utf8');
const whoami = async (daemon: Daemon, server: string) =>
  JSON.parse((await daemon.call(`mcp__${server}__whoami`)).body.content[0].text);
const writeVariables = (daemon: Daemon, text: string): void =>
  writeFileSync(join(dirname(daemon.config), 'watchkeeper.env'), text, { mode: 0o600 });
/** Lines of the daemon's log that warn, as one text. */
const warnings = (daemon: Daemon): string =>
  daemon
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ level }) => level >= 40 || level === 'warn')
    .map(({ msg }) => msg)
    .join('\n');

describe('a placeholder without a value', () => {
  const fields = {
    url: 'NOPE_URL',
    header: 'NOPE_HEADER',
    env: 'NOPE_ENV',
    args: 'NOPE_ARGS',
    cwd: 'NOPE_CWD',
    command: 'NOPE_COMMAND',
  };
  let daemon: Daemon;
  let web: HttpFake;
  let pipe: Steered;
  let text: string;

  beforeAll(async () => {
    web = await httpFake({ behaviour: { tools: ['echo'] } });
    pipe = steered({ behaviour: { tools: ['echo', 'whoami'] } });
    const entry = stdioEntry(pipe.options);
    daemon = await startDaemon({
      servers: {
        args: { ...entry, args: [...(entry.args as string[]), '--era', '${NOPE_ARGS}'] },
        command: { ...entry, command: '${NOPE_COMMAND}' },
        cwd: { ...entry, cwd: '${NOPE_CWD}' },
        env: { ...entry, env: { TOKEN: 'a ${NOPE_ENV} b' } },
        good: stdioEntry({ behaviour: { tools: ['echo'] } }),
        header: { url: web.url, headers: { 'X-Key': '$NOPE_HEADER' } },
        url: { url: `http://127.0.0.1:\${NOPE_URL}/mcp` },
      },
    });
    text = fileOf(daemon);
    await daemon.waitForServer('good', 'ready');
    await meanwhile(300);
  });

  it.each(Object.entries(fields))(
    'is an error of its entry alone, which names the variable (%s)',
    async (name, variable) => {
      const field = { header: 'headers.X-Key', env: 'env.TOKEN', args: 'args' }[name] ?? name;
      const row = await daemon.waitForServer(name, 'failed');
      expect(row).toMatchObject({
        connected: false,
        tools: 0,
        pid: null,
        nextAttemptAt: null,
        error: { class: 'config' },
      });
      expect(row.error.message).toContain(variable);
      expect(row.error.message).toContain(field);
    },
  );

  it('sends and starts nothing, and the other entries run', async () => {
    expect(web.log).toEqual([]);
    expect(pipe.counted('spawn')).toBe(0);
    expect((await daemon.server('good')).state).toBe('ready');
    expect(fileOf(daemon)).toBe(text);
    const { servers } = (await daemon.api('GET', '/v1/mcp')).body;
    expect(servers.header.headers).toEqual({ 'X-Key': '$NOPE_HEADER' });
    expect(servers.url.url).toBe('http://127.0.0.1:${NOPE_URL}/mcp');
  });

  it('is looked up again when the variables are there, and is never expanded twice', async () => {
    const dir = tempDir();
    writeVariables(
      daemon,
      [
        `NOPE_URL=${web.port}`,
        'NOPE_HEADER=the key',
        'NOPE_ENV=${NOPE_HEADER} $HOME $$',
        'NOPE_ARGS=legacy',
        `NOPE_CWD=${dir}`,
        `NOPE_COMMAND=${process.execPath}`,
      ].join('\n'),
    );
    for (const name of Object.keys(fields)) await daemon.waitForServer(name, 'ready');
    expect((await whoami(daemon, 'env')).env.TOKEN).toBe('a ${NOPE_HEADER} $HOME $$ b');
    expect((await whoami(daemon, 'cwd')).cwd).toBe(realpathSync(dir));
    expect(web.log.find(({ headers }) => headers['x-key'] !== undefined)?.headers['x-key']).toBe('the key');
    // Only the placeholder is known to file and API, never what it stands for.
    expect(fileOf(daemon)).toBe(text);
    expect(JSON.stringify((await daemon.api('GET', '/v1/mcp')).body)).not.toContain('the key');
  });

  it('may come with an entry that is added through the API, and is stored as written', async () => {
    const entry = { url: web.url, headers: { 'X-Key': '${NOT_YET}' } };
    expect((await daemon.api('POST', '/v1/mcp', { name: 'later', server: entry })).body).toEqual({ ok: true });
    const row = await daemon.waitForServer('later', 'failed');
    expect(row.error.message).toMatch(/NOT_YET/);
    expect(JSON.parse(fileOf(daemon)).mcpServers.later).toEqual(entry);
  });
});

describe('placeholders with a value', () => {
  it('are replaced as the rules say', async () => {
    const daemon = await startDaemon({
      servers: {
        s: {
          ...stdioEntry({ behaviour: { tools: ['whoami'] } }),
          env: {
            PLAIN: '$ONE',
            BRACED: 'a${ONE}b',
            EMPTY: '[${EMPTY_ONE}]',
            DEFAULT: '${NO_SUCH:-fallback}',
            EMPTY_DEFAULT: '${NO_SUCH:-}',
            DOLLAR: '$$ONE costs 5$',
            DAEMON: '${FROM_DAEMON}',
            BOTH: '${IN_BOTH}',
          },
        },
      },
      variables: { ONE: '1', EMPTY_ONE: '', IN_BOTH: 'file' },
      env: { FROM_DAEMON: 'daemon', IN_BOTH: 'daemon', SECRET_X: '1' },
    });
    await daemon.waitForServer('s', 'ready');
    const { env } = await whoami(daemon, 's');
    expect(env).toMatchObject({
      PLAIN: '1',
      BRACED: 'a1b',
      EMPTY: '[]',
      DEFAULT: 'fallback',
      EMPTY_DEFAULT: '',
      DOLLAR: '$ONE costs 5$',
      DAEMON: 'daemon',
      BOTH: 'daemon',
    });
    expect(env.SECRET_X).toBeUndefined();
    expect(env.PATH).toBeTruthy();
    expect(env.HOME).toBe(daemon.home);
  });

  it('give a one-word Authorization its scheme, once', async () => {
    const fakes = await Promise.all(Array.from({ length: 4 }, () => httpFake({ behaviour: { tools: ['echo'] } })));
    const [word, bearer, raw, empty] = fakes as [HttpFake, HttpFake, HttpFake, HttpFake];
    const headers = { Authorization: '${KEY}' };
    const daemon = await startDaemon({
      servers: {
        word: httpEntry(word, { headers }),
        bearer: httpEntry(bearer, { headers: { Authorization: 'Bearer ${KEY}' } }),
        raw: httpEntry(raw, { headers, rawAuthorization: true }),
        empty: httpEntry(empty, { headers: { Authorization: '${NONE}' } }),
      },
      variables: { KEY: 'k1', NONE: '' },
    });
    for (const name of ['word', 'bearer', 'raw', 'empty']) await daemon.waitForServer(name, 'ready');
    const sent = ({ log }: HttpFake) => log[0]?.headers.authorization;
    expect([word, bearer, raw].map(sent)).toEqual(['Bearer k1', 'Bearer k1', 'k1']);
    expect(sent(empty) ?? '').not.toMatch(/bearer/i);
  });
});

describe('a file with faults', () => {
  const good = (name: string): string => `"${name}": ${JSON.stringify(stdioEntry({ behaviour: { tools: ['echo'] } }))}`;

  it('loses only the entries that are wrong, and each says what is', async () => {
    const web = await httpFake({ behaviour: { tools: ['echo'] } });
    const entry = JSON.stringify(stdioEntry({ behaviour: { tools: ['echo'] } })).slice(1, -1);
    const configText = `\uFEFF{
      // servers of mine
      "mcpServers": {
        "both": {"command": "x", "url": "${web.url}"},
        "neither": {},
        "contradiction": {"type": "stdio", "url": "${web.url}"},
        "contradiction2": {"type": "http", "command": "x"},
        "odd-type": {"type": "telnet", "url": "${web.url}"},
        "args": {"command": "x", "args": "-y package"},
        "limit": {"command": "x", "callTimeoutMs": -1},
        "list": [],
        "open": {"command": "x", "args": ["\${OPEN"]},
        "a/b": {${entry}},
        "a__b": {${entry}},
        "__proto__": {${entry}},
        "trailing_": {${entry}},
        "unknown-key": {${entry}, "enviroment": {"A": "b"}},
        "twice-key": {${entry}, "disabled": true, "disabled": false},
        "twice": {"command": "x", "args": 1},
        "twice": {${entry}}, /* the last one counts */
        "url-only": {"url": "${web.url}"},
        ${good('plain')},
      },
    }\r\n`;
    const daemon = await startDaemon({ configText });
    const wrong: Record<string, RegExp> = {
      both: /command.*url/,
      neither: /command.*url/,
      contradiction: /type/,
      contradiction2: /type/,
      'odd-type': /type/,
      args: /args/,
      limit: /callTimeoutMs/,
      list: /object/,
      open: /args\[0\]/,
      'a/b': /name.*a_b|name.*a-b/,
      a__b: /name.*a_b/,
      __proto__: /name/,
      trailing_: /name.*trailing/,
    };
    const fine = ['unknown-key', 'twice-key', 'twice', 'url-only', 'plain'];
    for (const name of fine) await daemon.waitForServer(name, 'ready');
    const rows = await daemon.status();
    expect(rows.map(({ name }) => name)).toEqual(
      [...Object.keys(wrong), ...fine, '__proto__'].filter((name, n, all) => all.indexOf(name) === n).sort(),
    );
    for (const [name, message] of [...Object.entries(wrong), ['__proto__', /name/] as const]) {
      const row = rows.find((one) => one.name === name);
      expect({ name, ...row }).toMatchObject({ name, state: 'failed', transport: null, error: { class: 'config' } });
      expect(row.error.message).toMatch(message as RegExp);
    }
    expect(warnings(daemon)).toMatch(/unknown-key.*enviroment.*env/);
    expect(warnings(daemon)).toMatch(/twice-key.*disabled/);
    expect(warnings(daemon)).toMatch(/"twice" is written more than once/);
    expect(fileOf(daemon)).toBe(configText);
    expect((await daemon.api('GET', '/v1/mcp')).body.problem).toBeUndefined();
  });

  describe('of which nothing can be read', () => {
    let daemon: Daemon;
    let server: Steered;
    let text: string;
    beforeAll(async () => {
      server = steered({ behaviour: { tools: ['echo'] } });
      daemon = await startDaemon({ servers: { s: stdioEntry(server.options) } });
      await daemon.waitForServer('s', 'ready');
      text = fileOf(daemon);
    });

    it.each([
      ['cut in the middle', () => text.slice(0, Math.floor(text.length / 2)), true],
      ['spoilt by a word too much', () => text.replace('{', '{\n  oops'), true],
      ['a list', () => '[]', false],
      ['an object with a list of servers', () => '{"mcpServers": []}', false],
      ['empty', () => '', false],
    ])('keeps what runs while it is %s, and shows where the fault is', async (_title, breakIt, located) => {
      const broken = breakIt();
      const before = await positionOf(daemon);
      writeFileSync(daemon.config, broken);
      const { problem } = await daemon.waitFor(async () => {
        const { body } = await daemon.api('GET', '/v1/mcp');
        return body.problem !== undefined && body;
      });
      expect(problem).toMatchObject({ message: expect.any(String) });
      if (located) expect(problem).toMatchObject({ line: expect.any(Number), column: expect.any(Number) });
      expect(await daemon.server('s')).toMatchObject({ state: 'ready', pid: server.pid() });
      expect((await daemon.call('mcp__s__echo', { text: 'x' })).status).toBe(200);
      expect(await daemon.events({ stream: 'config', type: 'ConfigRejected', after: before })).toHaveLength(1);

      // An edit now would make itself all there is.
      for (const [path, body] of [
        ['/v1/mcp', { name: 'new', server: { command: 'x' } }],
        ['/v1/mcp/disable', { name: 's' }],
        ['/v1/mcp/remove', { name: 's' }],
      ] as const) {
        const refused = await daemon.api('POST', path, body);
        expect([path, refused.status, refused.body.code]).toEqual([path, 409, 'config-invalid']);
      }
      expect(fileOf(daemon)).toBe(broken);

      writeFileSync(daemon.config, text);
      await daemon.waitFor(async () => (await daemon.api('GET', '/v1/mcp')).body.problem === undefined);
      expect(server.counted('spawn')).toBe(1);
    });

    it('keeps what runs when it is gone, and is not made anew around an edit', async () => {
      rmSync(daemon.config);
      await daemon.waitFor(async () => (await daemon.api('GET', '/v1/mcp')).body.problem !== undefined);
      const refused = await daemon.api('POST', '/v1/mcp', { name: 'new', server: { command: 'x' } });
      expect([refused.status, refused.body.code]).toEqual([409, 'config-invalid']);
      expect(await daemon.server('s')).toMatchObject({ state: 'ready', pid: server.pid() });
      writeFileSync(daemon.config, text);
      await daemon.waitFor(async () => (await daemon.api('GET', '/v1/mcp')).body.problem === undefined);
      expect(server.counted('spawn')).toBe(1);
    });
  });

  it('does not keep the daemon from starting, and is loaded once it is mended', async () => {
    const daemon = await startDaemon({ configText: '{ "mcpServers": { ' });
    expect(await daemon.status()).toEqual([]);
    expect((await daemon.api('GET', '/health')).body).toMatchObject({ ready: true, servers: [] });
    expect((await daemon.api('GET', '/v1/mcp')).body.problem).toMatchObject({ line: 1 });
    daemon.writeConfig({ s: stdioEntry({ behaviour: { tools: ['echo'] } }) });
    await daemon.waitForServer('s', 'ready');
  });
});

describe('an edit through the API', () => {
  it('keeps comments, order, unknown keys and everything else that was there', async () => {
    const configText = `{
  // the ones I need every day
  "theme": "dark",
  "servers": {
    "b": { "command": "nothing-b", "note": "keep me", "disabled": true }, // second letter
    /* a block
       of words */
    "a": {
      "command": "nothing-a",
      "args": [ "1",  "2" ],
      "disabled": true,
    },
  },
  "after": [1, 2,   3]
}
`;
    const daemon = await startDaemon({ configText });
    expect(
      (await daemon.api('POST', '/v1/mcp', { name: 'c', server: { command: 'nothing-c', disabled: true } })).status,
    ).toBe(200);
    const added = fileOf(daemon);
    for (const line of configText.split('\n').filter((one) => one.trim().length > 2)) expect(added).toContain(line);
    expect(added.indexOf('"c"')).toBeGreaterThan(added.indexOf('"a"'));
    expect(added).not.toContain('mcpServers');
    expect((await daemon.status()).map(({ name, state }) => [name, state])).toEqual([
      ['a', 'disabled'],
      ['b', 'disabled'],
      ['c', 'disabled'],
    ]);

    await daemon.api('POST', '/v1/mcp/enable', { name: 'b' });
    expect(fileOf(daemon)).toContain('"note": "keep me"');
    expect(fileOf(daemon)).toContain('// second letter');
    await daemon.waitForServer('b', 'failed');
    await daemon.api('POST', '/v1/mcp/disable', { name: 'b' });
    await daemon.waitForServer('b', 'disabled');
    await daemon.api('POST', '/v1/mcp/remove', { name: 'c' });
    await daemon.api('POST', '/v1/mcp/remove', { name: 'b' });
    const rest = fileOf(daemon);
    for (const kept of [
      '// the ones I need every day',
      '"theme": "dark"',
      'of words */',
      '[ "1",  "2" ]',
      '[1, 2,   3]',
    ]) {
      expect(rest).toContain(kept);
    }
    expect(rest).not.toMatch(/nothing-[bc]/);
    expect((await daemon.status()).map(({ name }) => name)).toEqual(['a']);
  });

  it('writes through a link, and leaves the mode of the file as it is', async () => {
    const linked = await startDaemon({ servers: {} });
    const real = join(tempDir(), 'real.json');
    writeFileSync(real, '{"mcpServers": {}}\n', { mode: 0o640 });
    unlinkSync(linked.config);
    symlinkSync(real, linked.config);
    expect((await linked.api('POST', '/v1/mcp', { name: 'a', server: { command: 'x', disabled: true } })).status).toBe(
      200,
    );
    expect(lstatSync(linked.config).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(real, 'utf8')).mcpServers.a).toEqual({ command: 'x', disabled: true });
    expect(statSync(real).mode & 0o777).toBe(0o640);
  });

  it('loses none of thirty that come at once', async () => {
    const daemon = await startDaemon({ servers: { first: { command: 'x', disabled: true } } });
    const names = Array.from({ length: 30 }, (_, n) => `added-${String(n).padStart(2, '0')}`);
    const answers = await Promise.all(
      names.map((name, n) =>
        daemon.api('POST', '/v1/mcp', { name, server: { command: 'x', args: [String(n)], disabled: true } }),
      ),
    );
    expect(answers.map(({ status, body }) => [status, body])).toEqual(names.map(() => [200, { ok: true }]));
    const { mcpServers } = JSON.parse(fileOf(daemon));
    expect(Object.keys(mcpServers).sort()).toEqual([...names, 'first'].sort());
    expect((await daemon.status()).map(({ name }) => name)).toEqual([...names, 'first'].sort());
    await Promise.all(names.map((name) => daemon.api('POST', '/v1/mcp/remove', { name })));
    expect(Object.keys(JSON.parse(fileOf(daemon)).mcpServers)).toEqual(['first']);
    // What it wrote itself does not come back to it as somebody else's change.
    const before = await positionOf(daemon);
    await meanwhile(700);
    expect(await positionOf(daemon)).toBe(before);
  });

  it('takes *** for the value that is stored, and shows no other', async () => {
    const daemon = await startDaemon({
      servers: {
        pipe: {
          command: 'x',
          args: ['--api-key', 'arg-secret', '--name', 'plain', '--token=arg-token'],
          env: { KEY: 'env-secret', REF: '${REF}' },
          disabled: true,
        },
        web: {
          url: 'https://user:pass-secret@example.invalid/mcp?key=query-secret&mode=fast',
          headers: { Authorization: 'Bearer head-secret', 'X-Ref': '${REF}' },
          disabled: true,
        },
      },
    });
    const { body } = await daemon.api('GET', '/v1/mcp');
    expect(JSON.stringify(body)).not.toMatch(/-secret|arg-token|fast/);
    expect(body).toEqual({
      servers: {
        pipe: {
          command: 'x',
          args: ['--api-key', '***', '--name', 'plain', '--token=***'],
          env: { KEY: '***', REF: '${REF}' },
          disabled: true,
        },
        web: {
          url: 'https://***:***@example.invalid/mcp?key=***&mode=***',
          headers: { Authorization: '***', 'X-Ref': '${REF}' },
          disabled: true,
        },
      },
      redirect_uri: expect.stringMatching(/^http:\/\/localhost:\d+\/callback$/),
      oauth: { web: false },
    });

    const before = JSON.parse(fileOf(daemon)).mcpServers;
    const posted = {
      pipe: { ...body.servers.pipe, env: { KEY: '***', REF: '${REF}', NEW: 'new-value' } },
      web: { ...body.servers.web, headers: { Authorization: '***', 'X-Ref': 'literal' } },
    };
    for (const [name, server] of Object.entries(posted)) {
      expect((await daemon.api('POST', '/v1/mcp', { name, server })).body).toEqual({ ok: true });
    }
    const { pipe, web } = JSON.parse(fileOf(daemon)).mcpServers;
    expect(pipe).toEqual({ ...before.pipe, env: { ...before.pipe.env, NEW: 'new-value' } });
    expect(web).toEqual({ ...before.web, headers: { ...before.web.headers, 'X-Ref': 'literal' } });

    const nothing = await daemon.api('POST', '/v1/mcp', { name: 'fresh', server: { command: 'x', env: { A: '***' } } });
    expect([nothing.status, nothing.body.code]).toEqual([400, 'entry-invalid']);
    expect(nothing.body.detail).toContain('env.A');
    expect(Object.keys(JSON.parse(fileOf(daemon)).mcpServers)).toEqual(['pipe', 'web']);
  });

  it.each([
    ['an entry with neither command nor url', 'x', {}, 'entry-invalid', /command/],
    ['an entry with both', 'x', { command: 'a', url: 'http://127.0.0.1/' }, 'entry-invalid', /url/],
    ['a placeholder that is not closed', 'x', { command: 'a', args: ['${A'] }, 'entry-invalid', /args\[0\]/],
    ['a name that is not allowed', 'a__b', { command: 'a' }, 'entry-invalid', /a__b/],
    ['a name that is a path', '../x', { command: 'a' }, 'entry-invalid', /name/],
    ['an entry that is a list', 'x', [], 'invalid-request', /server/],
  ])('refuses %s and saves nothing', async (_title, name, server, code, detail) => {
    daemon ??= await startDaemon({ servers: {} });
    const { status, body } = await daemon.api('POST', '/v1/mcp', { name, server });
    expect([status, body.code]).toEqual([400, code]);
    expect(body.detail).toMatch(detail);
    expect(JSON.parse(fileOf(daemon)).mcpServers).toEqual({});
  });
  let daemon: Daemon | undefined;

  it.each(['remove', 'enable', 'disable', 'reconnect'])('is a 404 when nobody has the name (%s)', async (action) => {
    daemon ??= await startDaemon({ servers: {} });
    const { status, body } = await daemon.api('POST', `/v1/mcp/${action}`, { name: 'nobody' });
    expect([status, body.code]).toEqual([404, 'unknown-server']);
  });

  it('replaces an entry: the old process is gone when the new one is ready', async () => {
    const old = steered({ behaviour: { tools: ['echo'] } });
    const next = steered({ behaviour: { tools: ['echo', 'add'] } });
    const own = await startDaemon({ servers: { s: stdioEntry(old.options), other: stdioEntry() } });
    for (const name of ['s', 'other']) await own.waitForServer(name, 'ready');
    const { pid } = await own.server('other');
    await own.api('POST', '/v1/mcp', { name: 's', server: stdioEntry(next.options) });
    await own.waitForServer('s', (row) => row.state === 'ready' && row.tools === 2);
    expect(
      childrenOf(own.pid)
        .map((child) => child.pid)
        .sort(),
    ).toEqual([next.pid(), pid].sort());
    expect((await own.server('other')).pid).toBe(pid);
  });
});

describe('an edit by hand', () => {
  it('restarts only what it changed, and one fact says what that was', async () => {
    const one = steered({ behaviour: { tools: ['echo'] } });
    const two = steered({ behaviour: { tools: ['echo', 'sleep'] } });
    const daemon = await startDaemon({
      servers: { one: stdioEntry(one.options), two: stdioEntry(two.options), three: stdioEntry() },
    });
    for (const name of ['one', 'two', 'three']) await daemon.waitForServer(name, 'ready');
    const running = daemon.call('mcp__two__sleep', { ms: 1500 });
    daemon.writeConfig({
      // Other order, another spelling of the same: nothing to restart.
      two: { args: stdioEntry(two.options).args, command: process.execPath },
      one: stdioEntry(one.options, { env: { A: '1' } }),
      four: stdioEntry(),
    });
    await daemon.waitForServer('four', 'ready');
    await daemon.waitFor(async () => one.counted('spawn') === 2 && (await daemon.server('one')).state === 'ready');
    expect((await daemon.status()).map(({ name }) => name)).toEqual(['four', 'one', 'two']);
    expect((await running).body.outcome).toBe('succeeded');
    expect(two.counted('spawn')).toBe(1);
    expect((await daemon.events({ stream: 'config', type: 'ConfigChanged' })).map(({ data }) => data)).toMatchObject([
      { added: ['four'], changed: ['one'], removed: ['three'] },
    ]);
  });
});

describe('an entry on trial', () => {
  it('is tried and not saved, and shows its tools or what went wrong', async () => {
    const daemon = await startDaemon({ servers: {} });
    const text = fileOf(daemon);
    const before = await positionOf(daemon);
    const test = async (server: unknown) => (await daemon.api('POST', '/v1/mcp/test', { server })).body;

    const good = steered({ behaviour: { tools: ['echo', 'add'], start: { stderr: 'hello from the server' } } });
    expect(await test(stdioEntry(good.options))).toMatchObject({
      ok: true,
      tools: [{ name: 'echo', description: 'Gives the text back.' }, { name: 'add' }],
      stderr: expect.stringContaining('hello from the server'),
    });
    const web = await httpFake({ behaviour: { tools: ['echo'] } });
    expect(await test(httpEntry(web))).toMatchObject({ ok: true, tools: [{ name: 'echo' }] });
    expect(web.control.sessions()).toBe(0);

    const dying = { start: { exit: { code: 7, stderr: ['Traceback:', 'no database'] } } };
    expect(await test(stdioEntry({ behaviour: dying }))).toMatchObject({
      ok: false,
      error: { class: 'exit', message: expect.stringMatching(/code 7.*no database/) },
      stderr: expect.stringContaining('Traceback:\nno database'),
    });
    const mute = { answers: { '*': { never: true } }, start: { stderr: 'thinking' } };
    expect(await test(stdioEntry({ behaviour: mute }, { connectTimeoutMs: 1500 }))).toMatchObject({
      ok: false,
      error: { class: 'timeout', message: expect.stringMatching(/initialize.*1500 ms/) },
      stderr: expect.stringContaining('thinking'),
    });
    expect(await test({ command: 'no-such-command-anywhere' })).toMatchObject({ ok: false, error: { class: 'spawn' } });
    expect(await test({ command: 'x', env: { A: '${NOT_SET}' } })).toMatchObject({
      ok: false,
      error: { class: 'config', message: expect.stringContaining('NOT_SET') },
    });
    expect((await daemon.api('POST', '/v1/mcp/test', { server: {} })).status).toBe(400);

    expect(fileOf(daemon)).toBe(text);
    expect(await daemon.status()).toEqual([]);
    expect(await positionOf(daemon)).toBe(before);
    await daemon.waitFor(() => childrenOf(daemon.pid).length === 0);
  });
});

describe('the files', () => {
  it('can be read by nobody else', async () => {
    const daemon = await startDaemon({ servers: { s: stdioEntry({ behaviour: { tools: ['echo'] } }) } });
    await daemon.waitForServer('s', 'ready');
    const modes = Object.fromEntries(
      readdirSync(daemon.dir).map((name) => [name, (statSync(join(daemon.dir, name)).mode & 0o777).toString(8)]),
    );
    expect(statSync(daemon.dir).mode & 0o777).toBe(0o700);
    expect(modes).toMatchObject({ 'watchkeeper.db': '600', token: '600', 'daemon.json': '600', 'daemon.sock': '600' });
    expect(Object.values(modes).every((mode) => mode === '600' || mode === '700')).toBe(true);
  });

  it('that the daemon makes beside the configuration are as private', async () => {
    const daemon = await startDaemon({ servers: {} });
    await daemon.stop();
    rmSync(dirname(daemon.config), { recursive: true });
    mkdirSync(dirname(dirname(daemon.config)), { recursive: true });
    await daemon.restart();
    expect(await daemon.status()).toEqual([]);
    await daemon.api('POST', '/v1/mcp', { name: 's', server: stdioEntry({ behaviour: { tools: ['echo'] } }) });
    await daemon.waitForServer('s', 'ready');
    await daemon.api('POST', '/v1/allowlist', { tool: { prefix: 'mcp__s__', entries: ['mcp__s__echo'] } });
    const folder = dirname(daemon.config);
    const modes = Object.fromEntries(
      readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]),
    );
    expect(modes).toMatchObject({ 'mcp.json': '600', allow_tool: '600' });
    expect(new Set(Object.values(modes))).toEqual(new Set(['600']));
  });
});
