import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fake, fakeDaemon, now, problem } from './fake.daemon.ts';
import { call, serverStatus, tool } from './shapes.ts';

const tools = [
  tool('memory', 'read_graph', { allowed: true, title: 'Read the graph' }),
  tool('memory', 'search', {
    parameters: { type: 'object', properties: { zip: { type: 'string' }, limit: { type: 'integer' } } },
  }),
  tool('time', 'now', { stale: true, description: 'The time\nnow.' }),
  tool('web', 'search'),
];
const result = { content: [{ type: 'text', text: 'here it is' }], call: 'c1', outcome: 'succeeded' };
const held = { call: 'c7f2', state: 'held', expiresAt: '2026-03-15T12:10:00.000Z' };

let fake: Fake;
beforeEach(async () => {
  fake = await fakeDaemon({
    'GET /v1/mcp/tools': { tools },
    'POST /v1/mcp/call': result,
    'GET /v1/mcp/status': { servers: [serverStatus('memory'), serverStatus('time'), serverStatus('web')] },
  });
});
afterEach(() => fake.close());

const posted = (route: string) => fake.asked.filter((asked) => asked.route === `POST ${route}`).map(({ body }) => body);

describe('tools', () => {
  it('shows registered names and whether they may run', async () => {
    expect((await fake.run('tools')).out).toBe(
      [
        'TOOL                     ALLOWED  LIST        ABOUT',
        'mcp__memory__read_graph  yes                  Read the graph',
        'mcp__memory__search      asks                 What search does.',
        'mcp__time__now           asks     last known  The time now.',
        'mcp__web__search         asks                 What search does.',
        '',
      ].join('\n'),
    );
  });

  it('prints the answer of the API with --json', async () => {
    expect((await fake.run('tools memory --json')).json).toEqual({ tools });
    expect(fake.asked.at(-1)?.query).toEqual({ server: 'memory' });
  });

  it('tells a server without tools from one that does not exist', async () => {
    fake.routes['GET /v1/mcp/tools'] = { tools: [] };
    expect(await fake.run('tools memory')).toMatchObject({
      exit: 0,
      out: 'No tools.\n',
      err: 'See why: watchkeeper status memory\n',
    });
    expect(await fake.run('tools memori')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('Did you mean "memory"?'),
    });
  });
});

describe('call', () => {
  it.each([
    ['by its registered name', 'mcp__memory__search', 'mcp__memory__search'],
    ['by server and tool', 'web.search', 'mcp__web__search'],
    ['by its own name when only one server has it', 'read_graph', 'mcp__memory__read_graph'],
    ['by the registered name of a server whose list is not known yet', 'mcp__lazy__anything', 'mcp__lazy__anything'],
  ])('a tool is found %s', async (_, word, name) => {
    await fake.run(['call', word]);
    expect(posted('/v1/mcp/call')).toEqual([{ tool: name, arguments: {}, wait: false }]);
  });

  it.each([
    [
      'a name that two servers have',
      'search',
      2,
      '2 servers have a tool "search".\n  watchkeeper call mcp__memory__search\n  watchkeeper call mcp__web__search\n',
    ],
    [
      'a mistyped name',
      'raed_graph',
      1,
      'There is no tool "raed_graph". Did you mean "read_graph"?\n  watchkeeper call read_graph\n',
    ],
    [
      'a mistyped name with its server',
      'time.nwo',
      1,
      'There is no tool "time.nwo". Did you mean "time.now"?\n  watchkeeper call time.now\n',
    ],
    ['a mistyped registered name', 'mcp__time__nwo', 1, 'Did you mean "mcp__time__now"?'],
    ['nothing near', 'teleport', 1, 'There is no tool "teleport".\n  watchkeeper tools\n'],
  ])('%s ends with what to type', async (_, word, exit, err) => {
    expect(await fake.run(['call', word])).toMatchObject({ exit, out: '', err: expect.stringContaining(err) });
    expect(posted('/v1/mcp/call')).toEqual([]);
  });

  it('arguments follow the schema of the tool', async () => {
    await fake.run('call memory.search zip=01234 limit=5 mode=deep --mode allow-all --timeout 2m');
    await fake.run(['call', 'memory.search', '--json-args', '{"zip":5}']);
    expect(posted('/v1/mcp/call')).toEqual([
      {
        tool: 'mcp__memory__search',
        arguments: { zip: '01234', limit: 5, mode: 'deep' },
        permission_mode: 'allow-all',
        timeout_ms: 120_000,
        wait: false,
      },
      { tool: 'mcp__memory__search', arguments: { zip: 5 }, wait: false },
    ]);
  });

  it.each([
    ['a word that is no pair', ['call', 'read_graph', 'hello']],
    ['broken JSON', ['call', 'read_graph', '--json-args', '{']],
    ['both ways at once', ['call', 'read_graph', 'a=1', '--json-args', '{}']],
  ])('%s is used wrongly', async (_, argv) => {
    expect(await fake.run(argv)).toMatchObject({ exit: 2, out: '' });
  });

  it('prints the text of the answer, and the answer itself with --json', async () => {
    expect(await fake.run('call read_graph')).toMatchObject({ exit: 0, out: 'here it is\n', err: '' });
    expect((await fake.run('call read_graph --json')).json).toEqual(result);
  });

  it('fails when the tool reports an error, and still prints it', async () => {
    fake.routes['POST /v1/mcp/call'] = {
      ...result,
      content: [{ type: 'text', text: 'no such node' }],
      isError: true,
      outcome: 'tool-error',
    };
    expect(await fake.run('call read_graph')).toMatchObject({ exit: 1, out: 'no such node\n' });
  });

  it.each([
    ['refused', 403, 'call-refused', 4],
    ['denied', 403, 'call-denied', 4],
    ['expired', 403, 'call-expired', 4],
    ['failed', 503, 'server-not-connected', 1],
    ['unknown', 504, 'call-timeout', 1],
    ['cancelled', 409, 'call-cancelled', 1],
  ])('a call that ends as %s has its exit code', async (outcome, status, code, exit) => {
    fake.routes['POST /v1/mcp/call'] = problem(status, code, 'It did not work.', {
      call: 'c1',
      outcome,
      next: 'Look at `watchkeeper status memory`.',
    });
    expect(await fake.run('call read_graph')).toMatchObject({
      exit,
      out: '',
      err: 'watchkeeper: It did not work.\n  watchkeeper status memory\n',
    });
    expect(JSON.parse((await fake.run('call read_graph --json')).err)).toMatchObject({
      exit,
      problem: { code, outcome },
    });
  });
});

describe('a call that is held', () => {
  beforeEach(() => {
    fake.routes['POST /v1/mcp/call'] = held;
    fake.routes['GET /v1/mcp/calls/c7f2'] = call('c7f2', { unusual: ['the tool is new'] });
    fake.routes['POST /v1/mcp/calls/c7f2/deny'] = call('c7f2', { state: 'settled', outcome: 'denied' });
    fake.routes['POST /v1/mcp/calls/c7f2/approve'] = () => {
      fake.routes['GET /v1/mcp/calls/c7f2'] = call('c7f2', {
        state: 'settled',
        outcome: 'succeeded',
        result: { content: result.content },
      });
      return call('c7f2', { state: 'running' });
    };
  });

  it('in a pipe ends at once with its id and the command that approves it', async () => {
    expect(await fake.run('call read_graph')).toMatchObject({
      exit: 4,
      out: '',
      err: 'mcp__memory__read_graph waits for a person: call c7f2, until 2026-03-15T12:10:00.000Z.\n  watchkeeper approve c7f2\n',
    });
    const { exit, json, err } = await fake.run('call read_graph --json --quiet');
    expect([exit, json]).toEqual([4, held]);
    expect(err).toContain('watchkeeper approve c7f2');
  });

  it('may be waited for', async () => {
    await fake.run('call read_graph --wait');
    expect(posted('/v1/mcp/call')).toMatchObject([{ wait: true }]);
  });

  it('is taken back when the person leaves the question', async () => {
    fake.routes['POST /v1/mcp/calls/c7f2/cancel'] = call('c7f2', { state: 'settled', outcome: 'cancelled' });
    const left = await fake.run('call read_graph', {
      answers: ['o'],
      signal: AbortSignal.abort(),
      env: { NO_COLOR: '1' },
    });
    expect(left).toMatchObject({
      exit: 1,
      err: expect.stringContaining('You left; mcp__memory__read_graph did not run.\n  watchkeeper ledger show c7f2\n'),
    });
    expect(posted('/v1/mcp/calls/c7f2/cancel')).toHaveLength(1);
    expect(posted('/v1/mcp/calls/c7f2/approve')).toEqual([]);
  });

  it('on a terminal is asked about right there, with its arguments', async () => {
    const ran = await fake.run('call read_graph depth=2', { answers: ['o'] });
    expect(fake.questions).toEqual([
      {
        text: 'mcp__memory__read_graph is not allowed to run by itself. Arguments:\n  {"depth":2}\n  ! the tool is new\nRun it?',
        choices: [
          { key: 'o', label: 'once' },
          { key: 'a', label: 'this tool always' },
          { key: 'n', label: 'no' },
        ],
        otherwise: 'n',
      },
    ]);
    expect(ran).toMatchObject({ exit: 0, out: 'here it is\n' });
    expect(posted('/v1/mcp/calls/c7f2/approve')).toEqual([{ remember: 'once' }]);
  });

  it('"this tool always" is remembered', async () => {
    await fake.run('call read_graph', { answers: ['a'] });
    expect(posted('/v1/mcp/calls/c7f2/approve')).toEqual([{ remember: 'tool' }]);
  });

  it('"no" denies it', async () => {
    expect(await fake.run('call read_graph', { answers: ['n'] })).toMatchObject({
      exit: 4,
      out: '',
      err: expect.stringContaining('did not run'),
    });
    expect(posted('/v1/mcp/calls/c7f2/deny')).toHaveLength(1);
    expect(posted('/v1/mcp/calls/c7f2/approve')).toEqual([]);
  });

  it('that runs and is lost says so', async () => {
    fake.routes['POST /v1/mcp/calls/c7f2/approve'] = () => {
      fake.routes['GET /v1/mcp/calls/c7f2'] = call('c7f2', {
        state: 'settled',
        outcome: 'unknown',
        reason: 'The server was lost.',
      });
      return call('c7f2', { state: 'running' });
    };
    expect(await fake.run('call read_graph', { answers: ['o'], env: { NO_COLOR: '1' } })).toMatchObject({
      exit: 1,
      err: expect.stringContaining('it may have run. The server was lost.\n  watchkeeper status memory\n'),
    });
  });
});

describe('approvals, approve and deny', () => {
  const ids = [call('c7f2', { arguments: { depth: 2 }, unusual: ['the tool is new'] }), call('c7aa'), call('d001')];
  beforeEach(() => {
    fake.routes['GET /v1/mcp/calls'] = { calls: ids, next: null };
  });
  const notHeld = problem(404, 'unknown-call', 'No call has this id.');

  it('lists what waits', async () => {
    expect(await fake.run('approvals')).toMatchObject({
      out: [
        'CALL  TOOL                     FROM  LEFT  LOOK AT          ARGUMENTS',
        'c7f2  mcp__memory__read_graph  main  9 m   the tool is new  {"depth":2}',
        'c7aa  mcp__memory__read_graph  main  9 m',
        'd001  mcp__memory__read_graph  main  9 m',
        '',
      ].join('\n'),
      err: 'See one whole: watchkeeper approvals c7f2\nDecide: watchkeeper approve c7f2, or watchkeeper deny c7f2\n',
    });
    expect(fake.asked.at(-1)?.query).toMatchObject({ state: 'held' });
    expect((await fake.run('approvals --json')).json).toEqual({ calls: ids, next: null });
  });

  it('approve prints the answer of a call that nobody else waits for', async () => {
    const settled = call('c7f2', { state: 'settled', outcome: 'succeeded', result: { content: result.content } });
    fake.routes['POST /v1/mcp/calls/c7f2/approve'] = call('c7f2', { state: 'running' });
    let looked = 0;
    fake.routes['GET /v1/mcp/calls/c7f2'] = () => {
      looked += 1;
      return looked > 2 ? settled : call('c7f2', { state: 'running' });
    };
    expect(await fake.run('approve c7f2 --remember server')).toMatchObject({
      exit: 0,
      out: 'here it is\n',
      err: 'See what is allowed: watchkeeper allow memory\n',
    });
    expect(posted('/v1/mcp/calls/c7f2/approve')).toEqual([{ remember: 'server' }]);
  });

  it('approve says when the caller has left', async () => {
    fake.routes['POST /v1/mcp/calls/c7f2/approve'] = call('c7f2', { state: 'approved' });
    fake.routes['GET /v1/mcp/calls/c7f2'] = call('c7f2', { state: 'approved' });
    expect(await fake.run('approve c7f2')).toMatchObject({
      exit: 0,
      out: 'mcp__memory__read_graph is approved and runs once, when the same call comes again.\n',
    });
  });

  it('the beginning of an id is enough when only one begins so', async () => {
    fake.routes['POST /v1/mcp/calls/d0/deny'] = notHeld;
    fake.routes['POST /v1/mcp/calls/d001/deny'] = call('d001', { state: 'settled', outcome: 'denied' });
    expect(await fake.run(['deny', 'd0', '--reason', 'not now'])).toMatchObject({
      exit: 0,
      out: 'mcp__memory__read_graph is denied.\n',
    });
    expect(posted('/v1/mcp/calls/d001/deny')).toEqual([{ reason: 'not now' }]);
  });

  it('the beginning of an id is not enough when a call that was decided lately begins so too', async () => {
    const decided = call('d002', { state: 'settled', outcome: 'expired' });
    fake.routes['GET /v1/mcp/calls'] = ({ query }: any) => ({
      calls: query.state === 'held' ? ids : [...ids, decided],
      next: null,
    });
    fake.routes['POST /v1/mcp/calls/d0/approve'] = notHeld;
    const { exit, err } = await fake.run('approve d0');
    expect({ exit, err }).toEqual({
      exit: 1,
      err: 'watchkeeper: 2 calls begin with "d0", held or decided lately; type more of the id.\n  watchkeeper approvals\n',
    });
    expect(posted('/v1/mcp/calls/d001/approve')).toEqual([]);
  });

  it.each([
    [
      'several begin so',
      'c7',
      '2 calls begin with "c7", held or decided lately; type more of the id.\n  watchkeeper approvals\n',
    ],
    ['one is near', 'c7f3', 'There is no held call "c7f3". Did you mean "c7f2"?\n  watchkeeper approve c7f2\n'],
    ['none is near', 'zzzz', 'There is no held call "zzzz".\n  watchkeeper approvals\n'],
  ])('an id that is none: %s', async (_, id, err) => {
    fake.routes[`POST /v1/mcp/calls/${id}/approve`] = notHeld;
    expect(await fake.run(['approve', id])).toMatchObject({ exit: 1, out: '', err: `watchkeeper: ${err}` });
  });

  it('a call that was decided already fails', async () => {
    fake.routes['POST /v1/mcp/calls/c7f2/approve'] = problem(409, 'call-not-held', 'The call was denied.');
    const denied = { state: 'settled', outcome: 'denied', decidedBy: 'ann', reason: 'Not this week.' } as const;
    fake.routes['GET /v1/mcp/calls/c7f2'] = call('c7f2', denied);
    expect(await fake.run('approve c7f2')).toMatchObject({
      exit: 1,
      err: 'watchkeeper: Nothing to decide any more: mcp__memory__read_graph was denied. Not this week. (by ann)\n  watchkeeper ledger show c7f2\n  watchkeeper approvals\n',
    });
  });

  it.each(['approve', 'deny'])('%s wants an id', async (command) => {
    expect(await fake.run([command, ''])).toMatchObject({
      exit: 2,
      err: `watchkeeper: Say which call to ${command}: its id, or how that begins.\n  watchkeeper approvals\n`,
    });
    expect(fake.asked).toEqual([]);
  });

  it('shows one whole: server, hashes, what is unusual, and arguments line by line', async () => {
    const held = call('c7f2', {
      arguments: { depth: 2, names: ['a', 'b\u001b[2J'] },
      unusual: ['This tool was never called before.'],
      identity: 'a'.repeat(64),
      definition: 'b'.repeat(64),
      server_entry: { command: 'npx', args: ['-y', 'memory-server'] },
    });
    fake.routes['GET /v1/mcp/calls/c7f2'] = held;
    const { out, err } = await fake.run('approvals c7f2');
    expect(out).toBe(
      [
        'mcp__memory__read_graph',
        '  call       c7f2, from main by http, 9 m left',
        '  server     memory  npx -y memory-server',
        `  identity   ${'a'.repeat(64)}`,
        '  tool       read_graph',
        `  definition ${'b'.repeat(64)}`,
        '  ! This tool was never called before.',
        '  arguments',
        '    {',
        '      "depth": 2,',
        '      "names": [',
        '        "a",',
        '        "b\\u001b[2J"',
        '      ]',
        '    }',
        '',
      ].join('\n'),
    );
    expect(err).toContain('watchkeeper approve c7f2 [--remember tool|server]');
    expect((await fake.run('approvals c7f2 --json')).json).toEqual(held);
  });

  it('folds long arguments and says how much is left out', async () => {
    const lines = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, n === 0 ? 'x'.repeat(1_000) : n]));
    fake.routes['GET /v1/mcp/calls/c7f2'] = call('c7f2', { arguments: lines });
    const { out } = await fake.run('approvals c7f2');
    expect(out).toContain('… (1011 characters: --json)');
    expect(out).toContain('… 62 more lines: --json');
    expect(out.split('\n').length).toBeLessThan(60);
  });
});

describe('allow', () => {
  beforeEach(() => {
    fake.routes['GET /v1/allowlist'] = {
      tool: { entries: ['mcp__memory__read_graph'], suspended: ['mcp__memory__search'] },
    };
    fake.routes['GET /v1/allowlist/suspended'] = {
      suspended: [
        {
          entry: 'mcp__memory__search',
          position: 9,
          at: new Date(now).toISOString(),
          changed: 'tool',
          before: { identity: 'i', definition: `1${'0'.repeat(63)}` },
          after: { identity: 'i', definition: `2${'0'.repeat(63)}` },
          words: [
            {
              path: 'description',
              pieces: [
                { kind: 'same', text: 'Finds ' },
                { kind: 'removed', text: 'notes' },
                { kind: 'added', text: 'secrets' },
                { kind: 'same', text: '.' },
              ],
            },
          ],
        },
      ],
    };
    fake.routes['POST /v1/allowlist'] = ({ body }: any) => ({ ok: true, tool: { entries: body.tool.entries } });
    fake.routes['GET /v1/mcp/tools'] = ({ query }: any) => ({
      tools: tools.filter(({ server }) => query.server === undefined || server === query.server),
    });
  });

  it('shows grants and says which are suspended', async () => {
    const { out } = await fake.run('allow');
    expect(out.split('\n')).toEqual([
      'mcp__memory__read_graph',
      'mcp__memory__search  suspended: what it was given for has changed',
      expect.stringMatching(/^ {4}\S+ \S+ {2}definition 100000000000 → 200000000000$/),
      '      description: Finds [-notes-]{+secrets+}.',
      '',
    ]);
    await fake.run('allow memory');
    expect(fake.asked.findLast(({ route }) => route === 'GET /v1/allowlist')?.query).toEqual({
      prefix: 'mcp__memory__',
    });
  });

  it.each([
    [
      'tools by their own and their registered names',
      '--tool read_graph --tool mcp__memory__search',
      ['mcp__memory__read_graph', 'mcp__memory__search'],
    ],
    ['everything', '--all', ['mcp__memory__*']],
    ['nothing', '--none', []],
  ])('replaces the grants of a server: %s', async (_, options, entries) => {
    expect((await fake.run(`allow memory ${options} --json`)).json).toEqual({ ok: true, tool: { entries } });
    expect(posted('/v1/allowlist')).toEqual([{ tool: { prefix: 'mcp__memory__', entries } }]);
  });

  it.each([
    ['two ways at once', 'allow memory --all --none', 2, 'Give one of'],
    ['no server', 'allow --all', 2, 'Name the server'],
    ['an unknown server', 'allow memori --all', 1, 'watchkeeper allow memory'],
    ['an unknown tool', 'allow memory --tool raed_graph', 1, 'watchkeeper allow memory --tool read_graph'],
  ])('%s changes nothing', async (_, line, exit, err) => {
    expect(await fake.run(line)).toMatchObject({ exit, err: expect.stringContaining(err) });
    expect(posted('/v1/allowlist')).toEqual([]);
  });
});

describe('ledger verify', () => {
  const verified = (more: object) => ({
    ok: false,
    facts: 3,
    unchained: 1,
    from: 2,
    tip: { position: 3, hash: 'h3', at: new Date(now).toISOString() },
    findings: [],
    more: 0,
    expected: null,
    ...more,
  });
  const edited = { position: 2, kind: 'edited', message: 'Fact 2 is not what was written.' };
  const row = { position: 3, kind: 'ledger', message: 'The ledger does not show call c1.' };

  it.each([
    ['whole', { ok: true }, 0, /nothing is missing[\s\S]*1 fact of before the chain began/, /Note this hash elsewhere/],
    ['edited', { findings: [edited] }, 1, /not all is as it was written[\s\S]*! Fact 2/, /Keep the file as it is/],
    ['wrong only in its view', { findings: [row] }, 1, /! The ledger does not show call c1/, /watchkeeper rebuild/],
    ['both', { findings: [edited, row], more: 7 }, 1, /… and 7 more/, /Keep the file as it is/],
    ['without the hash that was noted', { expected: { hash: 'x', position: null } }, 1, /No fact has the hash/, /Keep/],
    ['with it', { ok: true, expected: { hash: 'x', position: 2 } }, 0, /is that of fact 2/, /Note this hash/],
  ])('says what it is when the log is %s', async (_how, more, exit, out, err) => {
    fake.routes['GET /v1/ledger/verify'] = verified(more);
    expect(await fake.run('ledger verify')).toMatchObject({
      exit,
      out: expect.stringMatching(out),
      err: expect.stringMatching(err),
    });
  });
});
