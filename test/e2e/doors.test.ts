/**
 * Every door by every verdict: who may call what, whichever way the call comes in. What a server was really sent is read
 * from its own counter. `DOORS_TABLE=FILE` writes the table of what was seen.
 */
import { writeFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { legacyClient, modernClient } from '../hub/client.ts';
import { atEnd } from '../support/cleanup.ts';
import { type Daemon, plainEnv, runCli, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { cliMain } from '../support/paths.ts';
import { callsOf } from './given.ts';

/** Who calls: the daemon's own token, or a client with a ceiling; `narrow` sees only the server `s`. */
type Who = 'own' | 'trusted' | 'asking' | 'denied' | 'narrow';
type Mode = 'ask' | 'deny' | 'allow-all';

interface Asked {
  readonly who: Who;
  readonly server: string;
  readonly tool: string;
  readonly mode?: Mode | undefined;
  readonly args: Record<string, unknown>;
  /** The name as it is sent, whatever the door calls the tool. */
  readonly name?: string;
}

/** What came of it, in the words of the ledger where there are any, and what the caller could read. */
interface Seen {
  readonly end: string;
  readonly text: string;
}

const clientOf: Readonly<Record<Exclude<Who, 'own'>, string>> = {
  trusted: 'claude-code',
  asking: 'codex',
  denied: 'vscode',
  narrow: 'opencode',
};

let daemon: Daemon;
const servers: Record<string, Steered> = {};
const tokens: Partial<Record<Who, string>> = {};

beforeAll(async () => {
  for (const name of ['s', 'out', 'off'])
    servers[name] = steered({ behaviour: { tools: ['echo', 'add', 'sleep', 'counter'] } });
  const entry = (name: string, more = {}) => stdioEntry(servers[name]?.options ?? {}, more);
  daemon = await startDaemon({
    servers: { s: entry('s', { exclude: ['sleep'] }), out: entry('out'), off: entry('off') },
    settings: { approval: { windowMs: 20_000 } },
    allow: ['mcp__s__echo', 'mcp__out__echo', 'mcp__off__echo', 'mcp__s__sleep'],
  });
  for (const name of ['s', 'out', 'off']) await daemon.waitForServer(name, 'ready');
  // Known first, disabled then: its tools are remembered, and hidden.
  await daemon.api('POST', '/v1/mcp/disable', { name: 'off' });
  await daemon.waitForServer('off', 'disabled');
  const connect = async (who: Exclude<Who, 'own'>, ...options: string[]) => {
    const { code, stdout, stderr } = await runCli(daemon, ['connect', clientOf[who], ...options, '--json']);
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    tokens[who] = JSON.parse(stdout).token.value;
  };
  await connect('trusted', '--permission', 'allow-all');
  await connect('asking', '--permission', 'ask');
  await connect('denied', '--permission', 'deny');
  await connect('narrow', '--permission', 'allow-all', '--servers', 's,off');
  tokens.own = daemon.token;
  await daemon.waitFor(async () => (await daemon.tools()).filter(({ allowed }) => allowed).length === 2);
});

const as = (who: Who): Daemon => ({ url: daemon.url, token: tokens[who] }) as unknown as Daemon;
const modeHeader = (mode: Mode | undefined): Record<string, string> =>
  mode === undefined ? {} : { 'watchkeeper-permission-mode': mode };

/** The answer to `tools/call`, or the error instead of it. */
function seenIn(answer: { readonly status?: number; readonly body: any }): Seen {
  const { body, status } = answer;
  if (body === undefined) return { end: `HTTP ${status}`, text: '' };
  if (body.error !== undefined && body.jsonrpc !== undefined) {
    const unknown = /^Unknown tool/.test(body.error.message);
    return { end: unknown ? 'no such tool' : `error ${body.error.code}`, text: body.error.message };
  }
  if (body.result !== undefined) {
    const end = body.result._meta?.['watchkeeper/outcome'] ?? 'no outcome';
    return { end, text: body.result.content?.[0]?.text ?? '' };
  }
  return problemOf(body, status);
}

const problemOf = (body: any, status?: number): Seen => ({
  end:
    { 'unknown-tool': 'no such tool', 'unknown-server': 'no such server', 'mode-above-ceiling': 'above the ceiling' }[
      body.code as string
    ] ??
    body.outcome ??
    body.state ??
    `HTTP ${status}`,
  text: body.detail ?? body.content?.[0]?.text ?? '',
});

const overHub = (path: (server: string) => string, name: (server: string, tool: string) => string) => ({
  legacy: async (asked: Asked): Promise<Seen> => {
    const { who, server, tool, mode, args } = asked;
    // No server of that name for this caller: there is not even a session.
    const first = await modernClient(as(who), path(server)).ask('ping');
    if (first.status === 404 && first.body?.code === 'unknown-server') return problemOf(first.body, 404);
    const client = await legacyClient(as(who), path(server));
    const params = { name: asked.name ?? name(server, tool), arguments: args };
    return seenIn(await client.ask('tools/call', params, { headers: modeHeader(mode) }));
  },
  modern: async (asked: Asked): Promise<Seen> => {
    const { who, server, tool, mode, args } = asked;
    const params = { name: asked.name ?? name(server, tool), arguments: args };
    return seenIn(await modernClient(as(who), path(server)).ask('tools/call', params, { headers: modeHeader(mode) }));
  },
});

const routed = overHub(
  () => '/mcp',
  (server, tool) => `${server}__${tool}`,
);
const single = overHub(
  (server) => `/mcp/${server}`,
  (_server, tool) => tool,
);

const doors: Readonly<Record<string, (asked: Asked) => Promise<Seen>>> = {
  HTTP: async ({ who, server, tool, mode, args, name }) => {
    const { status, body } = await daemon.api(
      'POST',
      '/v1/mcp/call',
      { tool: name ?? `mcp__${server}__${tool}`, arguments: args, ...(mode ? { permission_mode: mode } : {}) },
      { authorization: `Bearer ${tokens[who]}` },
    );
    return problemOf(body, status);
  },
  '/mcp, legacy': routed.legacy,
  '/mcp, modern': routed.modern,
  '/mcp/:server, legacy': single.legacy,
  '/mcp/:server, modern': single.modern,
  'watchkeeper mcp': async ({ who, server, tool, mode, args, name }) => {
    const client = new Client({ name: 'test', version: '1' });
    const words = [...(who === 'own' ? [] : ['--client', clientOf[who]]), ...(mode ? ['--mode', mode] : [])];
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [cliMain, 'mcp', ...words],
      env: plainEnv(daemon.home, { WATCHKEEPER_CONFIG: daemon.config, WATCHKEEPER_DATA: daemon.dir }),
      stderr: 'ignore',
    });
    atEnd(() => client.close());
    try {
      await client.connect(transport);
      const result: any = await client.callTool({ name: name ?? `${server}__${tool}`, arguments: args });
      return seenIn({ body: { result } });
    } catch (error) {
      const { message, code } = error as { message: string; code?: number };
      if (/Unknown tool/.test(message)) return { end: 'no such tool', text: message };
      return { end: /above/.test(message) ? 'above the ceiling' : `error ${code}`, text: message };
    } finally {
      await client.close();
    }
  },
  'watchkeeper call': async ({ server, tool, mode, args, name }) => {
    const words = Object.entries(args).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
    const called = name ?? `mcp__${server}__${tool}`;
    const { stdout, stderr } = await runCli(daemon, [
      'call',
      '--wait',
      '--json',
      ...(mode ? ['--mode', mode] : []),
      called,
      ...words,
    ]);
    if (stdout !== '') return problemOf(JSON.parse(stdout));
    const said = JSON.parse(stderr);
    return said.problem ? problemOf(said.problem) : { end: 'no such tool', text: said.error };
  },
};

/** The command line has the daemon's own rights and speaks for nobody else. */
const canBe = (door: string, who: Who): boolean => door !== 'watchkeeper call' || who === 'own';

const table: { door: string; verdict: string; seen: string; sent: number }[] = [];
const sentTo = (): number => Object.values(servers).reduce((sum, server) => sum + server.counted('tools/call'), 0);
let nth = 0;
/** Arguments that no other call has: held calls are not joined. */
const once = (): Record<string, unknown> => {
  nth += 1;
  return { a: nth, b: 0 };
};

interface Case {
  readonly verdict: string;
  readonly asked: Omit<Asked, 'args'>;
  /** How it ends, and what the caller reads. */
  readonly end: string | RegExp;
  readonly says?: RegExp;
  readonly runs: boolean;
  /** What a person does when the call is held. */
  readonly person?: { readonly does: 'approve' | 'deny'; readonly body?: object };
}

const s = { server: 's' } as const;
const cases: readonly Case[] = [
  { verdict: 'granted', asked: { ...s, who: 'own', tool: 'echo' }, end: 'succeeded', runs: true },
  {
    verdict: 'granted, mode deny',
    asked: { ...s, who: 'own', tool: 'echo', mode: 'deny' },
    end: 'succeeded',
    runs: true,
  },
  {
    verdict: 'granted, client with ceiling deny',
    asked: { ...s, who: 'denied', tool: 'echo' },
    end: 'succeeded',
    runs: true,
  },
  {
    verdict: 'held, approved by a person',
    asked: { ...s, who: 'own', tool: 'add', mode: 'ask' },
    end: 'succeeded',
    runs: true,
    person: { does: 'approve' },
  },
  {
    verdict: 'held, denied with a reason',
    asked: { ...s, who: 'own', tool: 'add', mode: 'ask' },
    end: 'denied',
    says: /use the staging table/i,
    runs: false,
    person: { does: 'deny', body: { reason: 'use the staging table' } },
  },
  {
    verdict: 'held for a client whose ceiling is ask',
    asked: { ...s, who: 'asking', tool: 'add' },
    end: 'denied',
    runs: false,
    person: { does: 'deny' },
  },
  {
    verdict: 'mode deny, no grant',
    asked: { ...s, who: 'own', tool: 'add', mode: 'deny' },
    end: 'refused',
    says: /watchkeeper allow s/,
    runs: false,
  },
  {
    verdict: 'client with ceiling deny, no grant',
    asked: { ...s, who: 'denied', tool: 'add' },
    end: 'refused',
    runs: false,
  },
  {
    verdict: 'mode allow-all',
    asked: { ...s, who: 'own', tool: 'add', mode: 'allow-all' },
    end: 'succeeded',
    runs: true,
  },
  {
    verdict: 'client with ceiling allow-all',
    asked: { ...s, who: 'trusted', tool: 'add' },
    end: 'succeeded',
    runs: true,
  },
  {
    verdict: 'allow-all above the ceiling ask',
    asked: { ...s, who: 'asking', tool: 'add', mode: 'allow-all' },
    end: 'above the ceiling',
    runs: false,
  },
  {
    verdict: 'ask above the ceiling deny',
    asked: { ...s, who: 'denied', tool: 'add', mode: 'ask' },
    end: 'above the ceiling',
    runs: false,
  },
  {
    verdict: 'hidden by exclude, though its line stands in the allowlist',
    asked: { ...s, who: 'own', tool: 'sleep', mode: 'allow-all' },
    end: 'no such tool',
    runs: false,
  },
  {
    verdict: 'disabled server, though granted',
    asked: { who: 'own', server: 'off', tool: 'echo', mode: 'allow-all' },
    end: 'no such tool',
    runs: false,
  },
  {
    verdict: 'disabled server in the view of a client',
    asked: { who: 'narrow', server: 'off', tool: 'echo', mode: 'allow-all' },
    end: 'no such tool',
    runs: false,
  },
  {
    verdict: "not in the client's view, though granted",
    asked: { who: 'narrow', server: 'out', tool: 'echo', mode: 'allow-all' },
    end: /^no such (?:tool|server)$/,
    runs: false,
  },
  {
    verdict: "in the client's view",
    asked: { ...s, who: 'narrow', tool: 'add', mode: 'allow-all' },
    end: 'succeeded',
    runs: true,
  },
];

async function whoIsHeld(): Promise<any> {
  return daemon.waitFor(async () => (await callsOf(daemon, '?state=held'))[0] ?? false);
}

describe.each(Object.keys(doors))('Through %s', { timeout: 60_000 }, (door) => {
  const call = doors[door] as (asked: Asked) => Promise<Seen>;

  it.each(cases.filter(({ asked }) => canBe(door, asked.who)))(
    'a call that is $verdict ends as it does through every door',
    async ({ verdict, asked, end, says, runs, person }) => {
      const before = sentTo();
      const answer = call({ ...asked, args: once() });
      if (person) {
        const held = await whoIsHeld();
        expect(held).toMatchObject({ server: 's', tool: 'add', outcome: null });
        expect(sentTo()).toBe(before);
        await daemon.api('POST', `/v1/mcp/calls/${held.id}/${person.does}`, person.body ?? {});
      }
      const seen = await answer;
      const sent = sentTo() - before;
      table.push({ door, verdict, seen: seen.end, sent });
      expect({ end: seen.end, sent }).toEqual({
        end: typeof end === 'string' ? end : expect.stringMatching(end),
        sent: runs ? 1 : 0,
      });
      if (says) expect(seen.text).toMatch(says);
    },
  );

  it('no spelling of a hidden tool reaches it', async () => {
    const before = sentTo();
    const spellings = [
      ...[
        door === 'watchkeeper call' ? 's.sleep' : 'sleep',
        's__sleep',
        'mcp__s__sleep',
        'MCP__S__SLEEP',
        'mcp__s__sleep ',
        ' mcp__s__sleep',
        'mcp__s__*',
      ],
      ...['mcp__s____sleep', 'mcp__off__echo', 'off__echo', 'mcp__s__echo/../sleep', 'mcp__s__sleep.', 'mcp__s'],
    ];
    const ends = [];
    for (const name of spellings)
      ends.push((await call({ who: 'own', ...s, tool: 'sleep', mode: 'allow-all', args: once(), name })).end);
    table.push({
      door,
      verdict: `${spellings.length} other spellings`,
      seen: [...new Set(ends)].join(', '),
      sent: sentTo() - before,
    });
    // Spaces at the ends of a name do not survive in a header, which must say the same as the body.
    expect(ends.filter((end) => end !== 'no such tool' && end !== 'error -32020')).toEqual([]);
    expect(sentTo()).toBe(before);
  });

  if (canBe(door, 'narrow'))
    it('no spelling of a tool outside the view of a client reaches it', async () => {
      const before = sentTo();
      for (const name of ['mcp__out__echo', 'out__echo', 'echo ', 'mcp__out__*', 'mcp__s__../out__echo']) {
        const { end } = await call({ who: 'narrow', ...s, tool: 'echo', mode: 'allow-all', args: once(), name });
        expect(['no such tool', 'error -32020']).toContain(end);
      }
      expect(sentTo()).toBe(before);
    });
});

describe('An approval', { timeout: 60_000 }, () => {
  const hold = async (who: Who = 'own'): Promise<string> => {
    const { body } = await daemon.api(
      'POST',
      '/v1/mcp/call',
      { tool: 'mcp__s__add', arguments: once(), permission_mode: 'ask', wait: false },
      { authorization: `Bearer ${tokens[who]}` },
    );
    return body.call;
  };
  const entry = (more = {}) => stdioEntry(servers.s?.options ?? {}, { exclude: ['sleep'], ...more });
  const put = (server: object) => daemon.api('POST', '/v1/mcp', { name: 's', server });

  it.each<[string, (id: string) => Promise<unknown>, Who, string]>([
    [
      'of a tool that was hidden meanwhile',
      async () => {
        const { since } = await daemon.server('s');
        await put(entry({ exclude: ['sleep', 'add'] }));
        await daemon.waitFor(async () => !(await daemon.tools('s')).some(({ tool }) => tool === 'add'));
        // A changed entry begins anew; before it is ready again an approval ends for want of a connection.
        await daemon.waitFor(async () => {
          const row = await daemon.server('s');
          return row.state === 'ready' && row.since !== since;
        });
      },
      'own',
      'refused',
    ],
    [
      'of a server that was disabled meanwhile',
      async () => {
        await daemon.api('POST', '/v1/mcp/disable', { name: 's' });
        await daemon.waitForServer('s', 'disabled');
      },
      'own',
      'failed',
    ],
    [
      'of a client that may not see the server any more',
      async () => {
        const { code } = await runCli(daemon, ['connect', clientOf.asking, '--servers', 'out']);
        expect(code).toBe(0);
      },
      'asking',
      'refused',
    ],
    [
      'of a client that was disconnected meanwhile',
      async () => {
        const { code } = await runCli(daemon, ['disconnect', clientOf.asking]);
        expect(code).toBe(0);
      },
      'asking',
      'refused',
    ],
  ])('%s runs nothing', async (_what, meanwhile, who, outcome) => {
    await put(entry());
    await daemon.api('POST', '/v1/mcp/enable', { name: 's' });
    await daemon.waitForServer('s', 'ready');
    await daemon.waitFor(async () => (await daemon.tools('s')).some(({ tool }) => tool === 'add'));
    if (who === 'asking')
      await runCli(daemon, ['connect', clientOf.asking, '--permission', 'ask', '--servers', 'all', '--json']).then(
        ({ stdout }) => {
          tokens.asking = JSON.parse(stdout).token.value ?? tokens.asking;
        },
      );
    const id = await hold(who);
    const before = sentTo();
    await meanwhile(id);
    await daemon.api('POST', `/v1/mcp/calls/${id}/approve`, {});
    const after = await daemon.waitFor(async () => {
      const { body } = await daemon.api('GET', `/v1/mcp/calls/${id}`);
      return body.state === 'settled' && body;
    });
    table.push({ door: 'approve', verdict: _what, seen: after.outcome, sent: sentTo() - before });
    expect([after.outcome, sentTo() - before]).toEqual([outcome, 0]);
  });
});

afterAll(() => {
  const file = process.env.DOORS_TABLE;
  if (file === undefined) return;
  const names = [...new Set(table.map(({ door }) => door))].filter((name) => name !== 'approve');
  const verdicts = [...new Set(table.filter(({ door }) => door !== 'approve').map(({ verdict }) => verdict))];
  const cell = (door: string, verdict: string): string => {
    const row = table.find((one) => one.door === door && one.verdict === verdict);
    return row ? `${row.seen} (${row.sent})` : '—';
  };
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  const approvals = table.filter(({ door }) => door === 'approve');
  writeFileSync(
    file,
    line(['verdict', ...names]) +
      line(['---', ...names.map(() => '---')]) +
      verdicts.map((verdict) => line([verdict, ...names.map((name) => cell(name, verdict))])).join('') +
      `\n| approval | ends | sent |\n| --- | --- | --- |\n` +
      approvals.map(({ verdict, seen, sent }) => line([verdict, seen, String(sent)])).join(''),
  );
});
