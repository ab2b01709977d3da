import { readdirSync, readFileSync, statSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { HttpFake } from '../fixtures/http-server.mjs';
import { type Daemon, DaemonExited, startDaemon } from '../support/daemon.ts';
import { stdioEntry } from '../support/fixtures.ts';
import { beginCall, heldCall, httpEntry, httpFake, meanwhile, textOf } from './given.ts';

interface Raw {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A request with exactly these headers, `Host` and `Origin` among them. The answer is read to its end, a stream only begun. */
function raw(
  where: { port: number } | { socketPath: string },
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', ...where, method, path, headers, setHost: false }, (response) => {
      let text = '';
      const done = () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
      response.on('data', (chunk) => {
        text += chunk;
        if (response.headers['content-type']?.startsWith('text/event-stream')) {
          response.destroy();
          done();
        }
      });
      response.on('end', done);
      response.on('error', done);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('the port', () => {
  let daemon: Daemon;
  let token: Record<string, string>;
  const json = { 'content-type': 'application/json' };
  const newServer = JSON.stringify({ name: 'evil', server: { command: 'touch', args: ['/tmp/evil'] } });

  beforeAll(async () => {
    daemon = await startDaemon({
      servers: { s: stdioEntry({ behaviour: { tools: ['echo'] } }) },
      settings: { http: { allowedHosts: ['box.local'] } },
    });
    await daemon.waitForServer('s', 'ready');
    token = { authorization: `Bearer ${daemon.token}` };
  });

  const doors: readonly (readonly [method: string, path: string, body?: string])[] = [
    ['GET', '/health'],
    ['GET', '/v1/mcp/status'],
    ['GET', '/v1/events'],
    ['GET', '/nowhere'],
    ['GET', '/docs'],
    ['POST', '/v1/mcp', newServer],
    ['POST', '/v1/mcp/call', JSON.stringify({ tool: 'mcp__s__echo', allow_all: true })],
    ['DELETE', '/v1/mcp/oauth'],
    ['OPTIONS', '/v1/mcp/call'],
    ['PUT', '/v1/mcp'],
  ];
  const nothingHappened = async () => {
    expect((await daemon.status()).map(({ name }) => name)).toEqual(['s']);
    expect((await daemon.api('GET', '/v1/mcp/calls')).body.calls).toEqual([]);
  };

  it('answers only under its own names', async () => {
    const { port } = daemon;
    const foreign = [
      'evil.example',
      `evil.example:${port}`,
      '127.0.0.1',
      `127.0.0.1:${port + 1}`,
      `127.0.0.1.evil.example:${port}`,
      `localhost.evil.example:${port}`,
      `127.0.0.1:${port}@evil.example`,
      `0.0.0.0:${port}`,
      '',
    ];
    for (const host of foreign) {
      for (const [method, path, body] of doors) {
        const answer = await raw({ port }, method, path, { host, ...token, ...(body === undefined ? {} : json) }, body);
        expect([host, method, path, answer.status]).toEqual([host, method, path, 403]);
      }
    }
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`, 'box.local']) {
      expect([host, (await raw({ port }, 'GET', '/v1/mcp/status', { host, ...token })).status]).toEqual([host, 200]);
    }
    await nothingHappened();
  });

  it('does nothing for a web page of another origin, whatever the page knows', async () => {
    const { port } = daemon;
    const host = `127.0.0.1:${port}`;
    for (const origin of [
      'https://evil.example',
      'null',
      `http://127.0.0.1:${port + 1}`,
      `http://${host}.evil.example`,
    ]) {
      for (const [method, path, body] of doors) {
        const answer = await raw(
          { port },
          method,
          path,
          { host, origin, ...token, ...(body === undefined ? {} : json) },
          body,
        );
        expect([origin, method, path, answer.status]).toEqual([origin, method, path, 403]);
        expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
    }
    const own = await raw({ port }, 'GET', '/v1/mcp/status', { host, origin: `http://${host}`, ...token });
    expect(own.status).toBe(200);
    await nothingHappened();
  });

  it('gives no page leave to ask: a preflight is refused, from its own origin as well', async () => {
    const host = `127.0.0.1:${daemon.port}`;
    for (const origin of [`http://${host}`, 'https://evil.example']) {
      const answer = await raw({ port: daemon.port }, 'OPTIONS', '/v1/mcp/call', {
        host,
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, content-type',
      });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('wants the token for everything but health and the documentation', async () => {
    const host = `127.0.0.1:${daemon.port}`;
    const wrong = [
      {},
      { authorization: 'Bearer wrong' },
      { authorization: `Basic ${Buffer.from(`x:${daemon.token}`).toString('base64')}` },
      { authorization: `Bearer ${daemon.token}x` },
      { authorization: `Bearer ${daemon.token.slice(0, -1)}` },
      { authorization: 'Bearer ' },
      { cookie: `token=${daemon.token}` },
    ] as Record<string, string>[];
    const closed = [
      ...doors.filter(([, path]) => !['/health', '/docs'].includes(path)),
      ['GET', '/metrics'],
      ['GET', `/v1/mcp/status?token=${daemon.token}`],
      ['GET', '/health/'],
      ['POST', '/v1/shutdown'],
      ['POST', '/v1/rebuild'],
    ] as const;
    for (const headers of wrong) {
      for (const [method, path, body] of closed) {
        const answer = await raw(
          { port: daemon.port },
          method,
          path,
          { host, ...headers, ...(body === undefined ? {} : json) },
          body,
        );
        expect([method, path, answer.status]).toEqual([method, path, 401]);
        expect(answer.body).not.toContain(daemon.token);
      }
    }
    for (const path of ['/health', '/docs', '/openapi.json', '/docs/errors/unauthorized']) {
      expect([path, (await raw({ port: daemon.port }, 'GET', path, { host })).status]).toEqual([path, 200]);
    }
    await nothingHappened();
  });

  it('takes no body but JSON, so that no form can be aimed at it', async () => {
    const host = `127.0.0.1:${daemon.port}`;
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      '',
    ]) {
      const answer = await raw(
        { port: daemon.port },
        'POST',
        '/v1/mcp',
        { host, ...token, ...(type === '' ? {} : { 'content-type': type }) },
        newServer,
      );
      expect([type, answer.status]).toEqual([type, 415]);
    }
    const broken = await raw({ port: daemon.port }, 'POST', '/v1/mcp', { host, ...token, ...json }, '{"name": ');
    expect(broken.status).toBe(400);
    const huge = { host, ...token, ...json, 'content-length': String(5 * 1_048_576) };
    expect((await raw({ port: daemon.port }, 'POST', '/v1/mcp/call', huge)).status).toBe(413);
    await nothingHappened();
  });

  it('tells little of itself under a name that is not of this machine', async () => {
    const far = await raw({ port: daemon.port }, 'GET', '/health', { host: 'box.local' });
    expect(Object.keys(JSON.parse(far.body)).sort()).toEqual(['ready', 'status', 'version']);
    const near = await raw({ port: daemon.port }, 'GET', '/health', { host: `localhost:${daemon.port}` });
    expect(JSON.parse(near.body).servers).toHaveLength(1);
    const known = await raw({ port: daemon.port }, 'GET', '/health', { host: 'box.local', ...token });
    expect(JSON.parse(known.body).servers).toHaveLength(1);
  });

  it('is not needed on the same machine: the socket takes no token, and no web page', async () => {
    const { socket } = daemon.ready;
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    const answer = await raw({ socketPath: socket }, 'GET', '/v1/mcp/status', { host: 'localhost' });
    expect([answer.status, JSON.parse(answer.body).servers.length]).toEqual([200, 1]);
    const page = await raw({ socketPath: socket }, 'GET', '/v1/mcp/status', {
      host: 'localhost',
      origin: 'https://evil.example',
    });
    expect(page.status).toBe(403);
    const form = await raw(
      { socketPath: socket },
      'POST',
      '/v1/mcp',
      { host: 'x', 'content-type': 'text/plain' },
      newServer,
    );
    expect(form.status).toBe(415);
    await nothingHappened();
  });

  it.each([
    ['an argument', { args: ['--host', '0.0.0.0'] }],
    ['a setting', { settings: { http: { host: '0.0.0.0' } } }],
    ['an argument for IPv6', { args: ['--host', '::'] }],
  ])('is opened to other machines only when that is allowed in so many words (%s)', async (_title, options) => {
    const refused = await startDaemon({ servers: {}, ...options }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DaemonExited);
    const { end, stderr } = refused as DaemonExited;
    expect(end.code).toBe(1);
    expect(stderr).toMatch(/--allow-remote/);
  });
});

describe('a secret', () => {
  const mark = (what: string): string => `MARK${what}${'7f3a'.repeat(3)}`;
  const marks = {
    header: mark('header'),
    authorization: mark('authorization'),
    env: mark('env'),
    query: mark('query'),
    user: mark('user'),
    password: mark('password'),
    variable: mark('variable'),
    flag: mark('flag'),
    cwd: mark('cwd'),
    posted: mark('posted'),
    argument: mark('argument'),
  };
  let daemon: Daemon;
  const fakes = {} as Record<'web' | 'login' | 'forbidden' | 'broken', HttpFake>;
  const authorized = { headers: { Authorization: `Bearer ${marks.authorization}`, 'X-Key': marks.header } };
  const said = `Authorization: Bearer ${marks.authorization} was sent, with x-key ${marks.header} and ${marks.query}`;

  /** A child that tells everything it was started with, and dies. */
  const telltale = {
    command: process.execPath,
    args: [
      '-e',
      `console.error(JSON.stringify(process.env)); console.error(process.argv.join(' '));
       console.error(Buffer.from(process.env.LITERAL).toString('base64'), encodeURIComponent(process.env.LITERAL + '/&'));
       process.exit(3)`,
      '--',
      '--api-key',
      marks.flag,
    ],
    env: { LITERAL: marks.env, EXPANDED: 'x-${SECRET_VALUE}-y' },
  };

  beforeAll(async () => {
    fakes.web = await httpFake({ behaviour: { tools: ['echo', 'rpc_error'] } });
    fakes.login = await httpFake({ behaviour: { status: { POST: { status: 401, body: said } } } });
    fakes.forbidden = await httpFake({ behaviour: { status: { POST: { status: 403, body: { error: said } } } } });
    fakes.broken = await httpFake({
      behaviour: { answers: { '*': { error: { code: -32000, message: said, data: { said } } } } },
    });
    const secretUrl = ({ port }: { port: number }) =>
      `http://${marks.user}:${marks.password}@127.0.0.1:${port}/mcp?key=${marks.query}`;
    daemon = await startDaemon({
      servers: {
        broken: { url: secretUrl(fakes.broken), ...authorized },
        forbidden: { url: secretUrl(fakes.forbidden), ...authorized },
        login: { url: secretUrl(fakes.login), ...authorized },
        nowhere: { url: secretUrl({ port: await freePort() }), ...authorized },
        nocwd: { ...stdioEntry(), cwd: '/nonexistent/${SECRET_CWD}' },
        nocommand: { command: '${SECRET_VALUE}' },
        pipe: { ...stdioEntry(), env: { LITERAL: marks.env, EXPANDED: '${SECRET_VALUE}' } },
        telltale,
        web: { ...httpEntry(fakes.web), ...authorized },
      },
      variables: { SECRET_VALUE: marks.variable, SECRET_CWD: marks.cwd },
      settings: { log: { level: 'trace' } },
    });
    for (const name of ['pipe', 'web']) await daemon.waitForServer(name, 'ready');
    for (const name of ['broken', 'forbidden', 'nowhere', 'telltale']) await daemon.waitForServer(name, 'backing-off');
    for (const name of ['nocwd', 'nocommand']) await daemon.waitForServer(name, 'failed');
    await daemon.waitForServer('login', 'auth-required');
  });

  it('reaches the server it is meant for', async () => {
    expect(fakes.web.log[0]?.headers).toMatchObject({
      authorization: `Bearer ${marks.authorization}`,
      'x-key': marks.header,
    });
    expect(fakes.login.log[0]?.path).toBe(`/mcp?key=${marks.query}`);
    const { env } = JSON.parse(textOf(await daemon.call('mcp__pipe__whoami')) ?? '');
    expect([env.LITERAL, env.EXPANDED]).toEqual([marks.env, marks.variable]);
  });

  it('is shown as *** where the reason of a failure quotes it', async () => {
    const messages = Object.fromEntries((await daemon.status()).map(({ name, error }) => [name, error?.message ?? '']));
    expect(messages.forbidden).toMatch(/403.*\*\*\*/);
    expect(messages.broken).toMatch(/\*\*\*/);
    expect(messages.nocwd).toMatch(/cwd.*\*\*\*/);
    const [failed] = await daemon.events({ stream: 'server-telltale', type: 'ConnectFailed' });
    expect(failed.data.failure.stderrTail).toContain('"LITERAL":"***"');
    expect(failed.data.failure.stderrTail).toContain('"EXPANDED":"***"');
  });

  it('is in no answer, no log line and no byte of the data directory', async () => {
    // Everything that may go wrong with a secret at hand.
    await daemon.call('mcp__pipe__echo', { text: marks.argument });
    await daemon.call('mcp__pipe__noise', { stderr: `${marks.env} ${marks.variable}`, stdout: marks.env });
    const refused = await daemon.call('mcp__web__rpc_error', {
      message: `sent: Bearer ${marks.authorization}, x-key ${marks.header}`,
    });
    const { answer } = beginCall(daemon, { tool: 'mcp__pipe__echo', arguments: { text: marks.argument } });
    await daemon.api('POST', `/v1/mcp/calls/${(await heldCall(daemon)).id}/approve`);
    await answer;
    const left = await daemon.call('mcp__pipe__die', { message: `last words: ${marks.env}, ${marks.variable}` });
    const answers: unknown[] = [
      refused.body,
      left.body,
      (await daemon.api('POST', '/v1/mcp/reconnect', {})).body,
      (await daemon.api('POST', '/v1/mcp/test', { server: telltale })).body,
    ];
    for (const server of [
      { command: 'x', args: marks.posted },
      { command: 'x', env: { A: `\${${marks.posted}` } },
      { command: 'x', env: { [`A=${'B'}`]: marks.posted } },
      { url: `http://user:${marks.posted}@`, headers: { 'bad name': marks.posted } },
      { url: `ftp://user:${marks.posted}@example.invalid/?key=${marks.posted}` },
      { url: 'http://127.0.0.1:9/', headers: { A: `${marks.posted}\nB: c` } },
      { url: 'http://127.0.0.1:9/', type: marks.posted },
    ]) {
      answers.push((await daemon.api('POST', '/v1/mcp', { name: 'posted', server })).body);
      answers.push((await daemon.api('POST', '/v1/mcp/test', { server })).body);
    }
    await daemon.api('POST', '/v1/mcp', {
      name: 'posted',
      server: { url: `http://127.0.0.1:9/?token=${marks.posted}`, headers: { 'X-Key': marks.posted } },
    });
    answers.push(await daemon.waitForServer('posted', 'backing-off'));
    await daemon.waitForServer('pipe', 'ready');
    await meanwhile(300);

    const { body: calls } = await daemon.api('GET', '/v1/mcp/calls');
    for (const path of [
      '/health',
      '/metrics',
      '/openapi.json',
      '/v1/mcp',
      '/v1/mcp/status',
      `/v1/mcp/status?at=${(await daemon.events()).at(-1)?.position}`,
      '/v1/mcp/tools',
      '/v1/mcp/tools/history',
      '/v1/mcp/instructions',
      '/v1/mcp/history',
      '/v1/allowlist',
      '/v1/mcp/calls',
      // A held call's result is kept for a while, and holds what its caller sent.
      ...calls.calls.filter(({ name }: any) => name !== 'mcp__pipe__echo').map(({ id }: any) => `/v1/mcp/calls/${id}`),
    ]) {
      answers.push((await daemon.api('GET', path)).body);
    }
    answers.push(await daemon.events());

    const places = (): Record<string, string> => ({
      ...Object.fromEntries(answers.map((body, n) => [`answer ${n}`, JSON.stringify(body)])),
      'the log': daemon.stderr(),
      'the output': daemon.stdout(),
      ...Object.fromEntries(
        readdirSync(daemon.dir, { recursive: true, withFileTypes: true })
          .filter((file) => file.isFile())
          .map((file) => join(file.parentPath, file.name))
          .map((file) => [file, readFileSync(file, 'latin1')]),
      ),
    });
    const formsOf = (secret: string) => [
      secret,
      Buffer.from(secret).toString('base64').slice(0, -3),
      Buffer.from(secret).toString('hex'),
    ];
    const found = () =>
      Object.entries(places()).flatMap(([place, text]) =>
        Object.entries(marks)
          .filter(([, secret]) => formsOf(secret).some((form) => text.includes(form)))
          .map(([name]) => `${name} in ${place}`),
      );
    expect(Object.keys(places()).filter((name) => name.includes('watchkeeper.db'))).not.toEqual([]);
    expect(found()).toEqual([]);
    const token = Object.entries(places()).filter(([, text]) => text.includes(daemon.token));
    expect(token.map(([place]) => place)).toEqual([join(daemon.dir, 'token')]);

    await daemon.stop();
    expect(found()).toEqual([]);
  });
});

/** A port at which nothing listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
