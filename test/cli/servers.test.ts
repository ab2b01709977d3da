import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fake, fakeDaemon, problem } from './fake.daemon.ts';
import { failing, serverStatus } from './shapes.ts';

const servers = [
  failing('flaky'),
  serverStatus('memory'),
  serverStatus('time', { state: 'disabled', connected: false, tools: 0 }),
];
const unknown = problem(404, 'unknown-server', 'There is no server of that name.');

let fake: Fake;
beforeEach(async () => {
  fake = await fakeDaemon({ 'GET /v1/mcp/status': { servers } });
});
afterEach(() => fake.close());

describe('status', () => {
  it('shows a line a server', async () => {
    expect(await fake.run('status')).toMatchObject({
      exit: 0,
      err: '',
      out: [
        'SERVER  STATE        TOOLS  SINCE  NEXT TRY  ERROR',
        'flaky   backing-off      0  12 s   in 4 s    exit: initialize: the process ended with exit code 1',
        'memory  ready            9  3 m',
        'time    disabled         0  3 m',
        '',
      ].join('\n'),
    });
  });

  it('warns while the log takes no facts', async () => {
    fake.routes['GET /health'] = { status: 'degraded', version: '0', ready: true };
    expect((await fake.run('status')).err).toMatch(/^warning: The log takes no facts .*watchkeeper doctor\n$/);
  });

  it('cuts the error to a terminal, and colours the state', async () => {
    const { out } = await fake.run('status', { columns: 70 });
    expect(out).toContain('\u001b[33mbacking-off\u001b[39;22m');
    expect(out).toContain('\u001b[31mexit: initialize: the pr…\u001b[39;22m');
  });

  it('prints the answer of the API with --json', async () => {
    expect((await fake.run('status --json')).json).toEqual({ servers });
    expect((await fake.run('--json status memory')).json).toEqual({ servers: [servers[1]] });
  });

  it('shows one server in detail', async () => {
    const { out } = await fake.run('status flaky');
    expect(out.replace(/since .*\(/, 'since … (')).toBe(
      [
        'flaky',
        '  state      backing-off',
        '  since … (12 s)',
        '  tools      0',
        '  error      exit: initialize: the process ended with exit code 1',
        '  attempt    3',
        '  next try   in 4 s',
        '  transport  stdio',
        '',
      ].join('\n'),
    );
  });

  it('suggests near names', async () => {
    expect(await fake.run('status memry')).toEqual(
      expect.objectContaining({
        exit: 1,
        out: '',
        err: 'watchkeeper: There is no server "memry". Did you mean "memory"?\n  watchkeeper status memory\n',
      }),
    );
  });

  it.each([
    ['10m', '2026-03-15T11:50:00.000Z'],
    ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000Z'],
    ['1204', '1204'],
  ])('asks for the past with --at %s', async (at, sent) => {
    fake.routes['GET /v1/events'] = { events: [], next: null };
    await fake.run(['status', '--at', at]);
    expect(fake.asked.find(({ route }) => route === 'GET /v1/mcp/status')?.query).toEqual({ at: sent });
  });

  it('counts from the moment that is asked for', async () => {
    const { out } = await fake.run(['status', 'memory', '--at', '1m']);
    expect(out).toContain('(2 m)');
  });

  it('refuses a moment that is none', async () => {
    expect(await fake.run('status --at soon')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('--at soon: not a moment'),
    });
  });

  it('says what to do when there are no servers', async () => {
    fake.routes['GET /v1/mcp/status'] = { servers: [] };
    expect(await fake.run('status')).toMatchObject({
      exit: 0,
      out: 'No servers are configured.\n',
      err: expect.stringContaining('watchkeeper add'),
    });
    expect(await fake.run('status --quiet')).toMatchObject({ err: '' });
  });
});

describe('status --watch', () => {
  const feed =
    (onFollow: (send: (type: string) => void) => void) =>
    (_asked: unknown, response: import('node:http').ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      let position = 0;
      onFollow((type) => {
        position += 1;
        const event = {
          position,
          stream: 'server-memory',
          version: position,
          type,
          schema: 1,
          at: new Date().toISOString(),
          cause: null,
          data: {},
        };
        response.write(`id: ${position}\ndata: ${JSON.stringify(event)}\n\n`);
      });
    };

  it('prints a line for each server, then one for each change, into a pipe', async () => {
    const end = new AbortController();
    fake.routes['GET /v1/events'] = feed((send) => {
      fake.routes['GET /v1/mcp/status'] = {
        servers: [servers[0], serverStatus('memory', { state: 'session-lost', tools: 9 })],
      };
      send('SessionLost');
    });
    const { exit, out } = await fake.run('status --watch', {
      signal: end.signal,
      onOut: (text) => {
        if (text.includes('removed')) end.abort();
      },
    });
    expect(exit).toBe(0);
    expect(out.split('\n').map((line) => line.replace(/^\S+Z {2}/, ''))).toEqual([
      'flaky  backing-off  0 tools  exit: initialize: the process ended with exit code 1',
      'memory  ready  9 tools',
      'time  disabled  0 tools',
      'memory  session-lost  9 tools',
      'time  removed',
      '',
    ]);
  });

  it('redraws a terminal', async () => {
    const end = new AbortController();
    fake.routes['GET /v1/events'] = feed((send) => send('ToolsListed'));
    const { out } = await fake.run('status --watch', {
      columns: 80,
      signal: end.signal,
      onOut: (text) => {
        if (text.split('\u001b[H').length > 2) end.abort();
      },
    });
    expect(out.startsWith('\u001b[H\u001b[2J')).toBe(true);
  });

  it('does not go with --at', async () => {
    expect((await fake.run('status --watch --at 10m')).exit).toBe(2);
  });
});

describe('add', () => {
  beforeEach(() => {
    fake.routes['GET /v1/mcp'] = { servers: { memory: { command: 'x' } }, oauth: {} };
    fake.routes['POST /v1/mcp'] = { ok: true };
  });
  const sent = () => fake.asked.find(({ route }) => route === 'POST /v1/mcp')?.body;

  it('sends a command with everything after --', async () => {
    const ran = await fake.run([
      'add',
      'files',
      '--env',
      'A=1',
      '--env',
      'B=x=y',
      '--cwd',
      '/tmp',
      '--',
      'npx',
      '-y',
      'pkg',
      '--json',
    ]);
    expect(ran).toMatchObject({
      exit: 0,
      out: 'files is added; the daemon connects to it now.\n',
      err: 'See how it goes: watchkeeper status files\n',
    });
    expect(sent()).toEqual({
      name: 'files',
      server: { command: 'npx', args: ['-y', 'pkg', '--json'], env: { A: '1', B: 'x=y' }, cwd: '/tmp' },
    });
  });

  it('sends a URL with headers', async () => {
    await fake.run(['add', 'far', '--url', 'https://far.example/mcp', '--header', `Authorization=\${TOKEN}`]);
    expect(sent()).toEqual({
      name: 'far',
      server: { url: 'https://far.example/mcp', headers: { Authorization: `\${TOKEN}` } },
    });
  });

  it('says that it replaced an entry', async () => {
    expect((await fake.run('add memory -- node x.js')).out).toBe(
      'memory is replaced; the daemon connects to it now.\n',
    );
  });

  it('warns about a secret that would stand in the file', async () => {
    const { err } = await fake.run('add files --env API_TOKEN=abc -- npx pkg');
    expect(err).toContain(
      `API_TOKEN stands in the file as you typed it; to keep it out: --env 'API_TOKEN=\${API_TOKEN}'`,
    );
    expect(err).not.toContain('abc');
  });

  it.each([
    ['add files -- ./server.sh', './server.sh'],
    ['add files -- node ../x/server.js', '../x/server.js'],
    ['add files -- bin/server', 'bin/server'],
    ['add files -- /opt/server --root .', '.'],
  ])('keeps a path from here as typed and says where it is looked for: %s', async (line, path) => {
    expect((await fake.run(line)).err).toContain(
      `${path} is kept as typed and found from the folder the daemon runs in`,
    );
  });

  it.each(['add files -- npx -y @scope/pkg a/b', 'add files --cwd /tmp -- ./server.sh', 'add files -- /opt/server'])(
    'says nothing of the kind about %s',
    async (line) => {
      expect((await fake.run(line)).err).not.toContain('kept as typed');
    },
  );

  it('speaks of the command line, not of requests', async () => {
    fake.routes['POST /v1/mcp'] = problem(400, 'config-invalid', 'a brace is missing (line 1)', {
      next: 'Correct the file at the line that `detail` names; until then it cannot be edited from here.',
    });
    const { err } = await fake.run('add files -- npx');
    expect(err).toBe('watchkeeper: a brace is missing (line 1).\n  watchkeeper config check\n');
  });

  it('confirms nothing with --quiet, and prints JSON with --json', async () => {
    expect(await fake.run('add files --quiet -- npx pkg')).toMatchObject({ out: '', err: '' });
    expect((await fake.run('add files --json -- npx pkg')).json).toEqual({ ok: true });
  });

  it.each([
    ['neither command nor URL', 'add files', /Neither a command after -- nor --url/],
    ['both', 'add files --url http://x.example -- npx', /not both/],
    ['a command without --', 'add files npx pkg', /goes after --\.\n {2}watchkeeper add files -- npx …/],
    ['a header for a command', 'add files --header A=b -- npx', /--header is for --url/],
    ['a variable for a URL', 'add files --env A=b --url http://x.example', /--env and --cwd are for a command/],
    ['a variable without a value', 'add files --env A -- npx', /--env wants KEY=VALUE/],
  ])('%s is used wrongly', async (_, line, message) => {
    expect(await fake.run(line)).toMatchObject({ exit: 2, out: '', err: expect.stringMatching(message) });
    expect(sent()).toBeUndefined();
  });

  it('never repeats a secret that was typed in the wrong form', async () => {
    const { exit, err } = await fake.run([
      'add',
      'far',
      '--url',
      'http://x.example',
      '--header',
      'Authorization: Bearer abc',
    ]);
    expect([exit, err]).toEqual([2, 'watchkeeper: --header wants KEY=VALUE.\n  watchkeeper add --help\n']);
  });

  it('passes on what the daemon has against an entry', async () => {
    fake.routes['POST /v1/mcp'] = problem(400, 'entry-invalid', 'the name "a b" may hold only letters');
    expect(await fake.run(['add', 'a b', '--', 'npx'])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('may hold only letters'),
    });
  });
});

describe('servers while no daemon runs', () => {
  let offline: Fake;
  beforeEach(async () => {
    offline = await fakeDaemon({}, { running: false });
  });
  afterEach(() => offline.close());

  it('are added to the file', async () => {
    const ran = await offline.run('add memory -- npx pkg');
    expect(ran).toMatchObject({
      exit: 0,
      out: `memory is added in ${offline.configFile}.\n`,
      err: expect.stringContaining('watchkeeper up --detach'),
    });
    expect(JSON.parse(await readFile(offline.configFile, 'utf8'))).toEqual({
      servers: { memory: { command: 'npx', args: ['pkg'] } },
    });
    expect((await offline.run('add memory -- npx other')).out).toContain('memory is replaced');
  });

  it('are checked first', async () => {
    expect(await offline.run(['add', 'my server', '--', 'npx'])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('my-server'),
    });
  });

  it('are enabled and disabled in the file', async () => {
    await writeFile(offline.configFile, '{"mcpServers": {"memory": {"command": "npx"}}} // mine\n');
    expect((await offline.run('disable memory')).exit).toBe(0);
    expect(await readFile(offline.configFile, 'utf8')).toContain('"disabled": true');
    expect((await offline.run('enable memory')).exit).toBe(0);
    expect(await readFile(offline.configFile, 'utf8')).toMatch(/"disabled": false.*\/\/ mine/s);
  });

  it('have near names', async () => {
    await writeFile(offline.configFile, '{"servers": {"memory": {"command": "npx"}}}');
    expect(await offline.run('disable memry')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('watchkeeper disable memory'),
    });
  });

  it.each([
    'status',
    'tools',
    'remove memory',
    'reconnect',
    'test -- npx',
    'approvals',
    'allow',
    'call x',
    'log',
    'log --follow',
    'history memory',
    'down',
    'rebuild',
  ])('%s says that the daemon is not reachable', async (line) => {
    expect(await offline.run(line)).toMatchObject({
      exit: 3,
      out: '',
      err: expect.stringMatching(/ {2}watchkeeper up --detach\n$/),
    });
  });

  it('errors are JSON on stderr with --json', async () => {
    const { exit, out, err } = await offline.run('status --json');
    expect([exit, out]).toEqual([3, '']);
    expect(JSON.parse(err)).toEqual({
      error: expect.stringContaining('No daemon runs'),
      exit: 3,
      next: ['watchkeeper up --detach'],
    });
  });
});

describe('remove', () => {
  beforeEach(() => {
    fake.routes['POST /v1/mcp/remove'] = { ok: true };
  });
  const removed = () => fake.asked.filter(({ route }) => route === 'POST /v1/mcp/remove').map(({ body }) => body);

  it('asks on a terminal, and no is the default', async () => {
    expect(await fake.run('remove memory', { answers: [] })).toMatchObject({ exit: 4, out: '' });
    expect(fake.questions[0]).toMatchObject({
      text: 'Remove memory, its grants and its stored credentials?',
      otherwise: 'n',
    });
    expect(removed()).toEqual([]);
  });

  it('removes after a yes, with --yes, and in a pipe', async () => {
    expect((await fake.run('remove memory', { answers: ['y'] })).out).toContain('memory is removed.');
    await fake.run('remove memory --yes', { answers: [] });
    await fake.run('remove memory');
    expect(removed()).toEqual([{ name: 'memory' }, { name: 'memory' }, { name: 'memory' }]);
    expect(fake.questions).toHaveLength(1);
  });

  it('suggests near names', async () => {
    fake.routes['POST /v1/mcp/remove'] = unknown;
    expect(await fake.run('remove memori')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('  watchkeeper remove memory\n'),
    });
  });
});

describe('enable, disable, reconnect and test', () => {
  it('enable and disable name the server', async () => {
    fake.routes['POST /v1/mcp/enable'] = { ok: true };
    fake.routes['POST /v1/mcp/disable'] = { ok: true };
    expect((await fake.run('enable time')).out).toBe('time is enabled and starts now.\n');
    expect((await fake.run('disable time --json')).json).toEqual({ ok: true });
    expect(fake.asked.filter(({ route }) => route.startsWith('POST')).map(({ body }) => body)).toEqual([
      { name: 'time' },
      { name: 'time' },
    ]);
  });

  it('reconnect fails when a server does not come back', async () => {
    const answer = {
      ok: false,
      servers: [
        {
          name: 'flaky',
          ok: false,
          state: 'backing-off',
          error: { class: 'exit', message: 'initialize: ended', at: new Date().toISOString() },
        },
        { name: 'memory', ok: true, state: 'ready', error: null },
      ],
    };
    fake.routes['POST /v1/mcp/reconnect'] = answer;
    expect(await fake.run('reconnect')).toMatchObject({
      exit: 1,
      out: 'SERVER  STATE        ERROR\nflaky   backing-off  exit: initialize: ended\nmemory  ready\n',
      err: 'What happened to it: watchkeeper log flaky\n',
    });
    expect((await fake.run('reconnect flaky --timeout 30s --json')).json).toEqual(answer);
    expect(fake.asked.at(-1)?.body).toEqual({ name: 'flaky', timeout_ms: 30_000 });
  });

  it('test shows the tools', async () => {
    fake.routes['POST /v1/mcp/test'] = { ok: true, tools: [{ name: 'read_graph' }] };
    expect(await fake.run('test memory -- npx pkg')).toMatchObject({
      exit: 0,
      out: 'It works: 1 tool.\n  read_graph\n',
    });
    expect(fake.asked.at(-1)?.body).toEqual({ server: { command: 'npx', args: ['pkg'] } });
  });

  it('test shows why it fails, and what the server wrote', async () => {
    fake.routes['POST /v1/mcp/test'] = {
      ok: false,
      error: { class: 'exit', message: 'initialize: exit code 1', at: new Date().toISOString() },
      stderr: 'no such file\nbye\n',
    };
    expect(await fake.run('test -- npx pkg')).toMatchObject({
      exit: 1,
      out: 'exit: initialize: exit code 1\nWhat it wrote to stderr:\n  no such file\n  bye\n',
    });
  });
});
