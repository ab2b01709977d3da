/**
 * A daemon that lives through everything that can stand in a log: every kind of fact, every state of a server and of a
 * call. What it leaves behind is what `test/events/frozen` keeps of each release.
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { catalogue } from '../../src/events/catalogue.ts';
import { startOAuthFake } from '../fixtures/oauth-server.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { stdioEntry, steered } from '../support/fixtures.ts';
import { beginCall, heldCall, httpEntry, httpFake } from './given.ts';
import { freePort, logIn } from './login.ts';

const tool = (description: string) => ({
  name: 'note',
  description,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
});

/** Types of facts, and states they led to as `stream/state`, that do not stand in the log. */
export function missingIn(facts: readonly { stream: string; type: string; data: { to?: unknown } }[]): string[] {
  const kind = (stream: string): string => stream.replace(/-.*/, '');
  const found = new Set(facts.flatMap(({ stream, type, data }) => [type, `${kind(stream)}/${String(data.to)}`]));
  const states = {
    server: [
      ...['stopped', 'disabled', 'idle', 'connecting', 'reconnecting', 'listing', 'ready', 'session-lost'],
      ...['backing-off', 'auth-required', 'failed', 'stopping'],
    ],
    call: ['held', 'approved', 'running', 'settled'],
  };
  const wanted = Object.entries(states).flatMap(([stream, names]) => names.map((name) => `${stream}/${name}`));
  return [...Object.keys(catalogue), ...wanted].filter((name) => !found.has(name));
}

/** The daemon, still running, after everything happened but its end in good order; its servers are `steady` and `web`. */
export async function liveThroughEverything(): Promise<Daemon> {
  const steady = steered({ behaviour: { tools: [tool('Takes a note.') as never, 'echo', 'die'] } });
  const leaver = steered({ behaviour: { start: { exit: { code: 3, stderr: 'nothing to do here' } } } });
  const silent = steered({ behaviour: { answers: { 'tools/list': { never: true } } } });
  const web = await httpFake({ behaviour: { tools: ['echo'], get: { mode: 'status', status: 405 } } });
  const locked = await httpFake({ behaviour: { tools: ['echo'], bearer: 'another' } });
  const members = await startOAuthFake();
  const entries = {
    steady: stdioEntry(steady.options, { stableMs: 600 }),
    web: httpEntry(web),
    leaver: stdioEntry(leaver.options),
    silent: stdioEntry(silent.options, { listTimeoutMs: 300 }),
    locked: httpEntry(locked),
    missing: { command: 'there-is-no-such-command' },
    off: stdioEntry(steady.options, { disabled: true }),
    gone: stdioEntry(steady.options, { idleStopMs: 300 }),
    members: { url: members.url, auth: 'oauth' },
  };
  const daemon = await startDaemon({
    servers: entries,
    settings: { approval: { windowMs: 400 }, start: { parallel: 10 }, oauth: { callbackPort: await freePort() } },
    allow: ['mcp__steady__note', 'mcp__steady__die', 'mcp__web__echo'],
  });
  const has = (type: string, more: (fact: any) => boolean = () => true, name?: string) =>
    daemon.waitFor(async () => {
      const facts = await daemon.events({ type, ...(name === undefined ? {} : { stream: `server-${name}` }) });
      return facts.some(more);
    }, 30_000);
  const post = (path: string, body: unknown = {}) => daemon.api('POST', path, body);

  await Promise.all([daemon.waitForServer('steady', 'ready'), daemon.waitForServer('web', 'ready')]);
  await daemon.waitForServer('locked', 'auth-required');
  await daemon.waitForServer('missing', 'failed');
  await has('ConnectFailed', ({ data }) => data.failure.phase === 'list', 'silent');
  await has('ReconnectStarted', () => true, 'leaver');
  await has('StopRequested', ({ data }) => data.reason === 'idle');

  // Lost twice within a moment: at once, then after a pause; then it holds.
  const lost = await daemon.call('mcp__steady__die');
  await post(`/v1/mcp/calls/${lost.body.call}/close`, { finding: 'ran', note: 'It died of it.' });
  await has('SessionLost', () => true, 'steady');
  await daemon.waitForServer('steady', 'ready');
  await daemon.call('mcp__steady__die');
  await has('ReconnectDelayed', () => true, 'steady');
  await has('SettledDown', () => true, 'steady');

  // A list that fails, one that is other than before, and a grant that is suspended for it.
  steady.set({
    answers: { 'tools/list': { error: { code: -32603, message: 'not now' } } },
    orders: [{ id: 1, do: 'announce' }],
  });
  await has('ListFailed', () => true, 'steady');
  steady.set({
    answers: {},
    tools: [tool('Loses a note.') as never, 'echo', 'die'],
    orders: [{ id: 2, do: 'announce' }],
  });
  await has('GrantSuspended');

  // Calls: granted, sent again, held, left, asked for again, approved, denied, timed out.
  await daemon.call('mcp__web__echo', { text: 'granted' }, { permission_mode: 'deny' });
  web.control.forget();
  await daemon.call('mcp__web__echo', { text: 'sent again' });
  await has('CallResent');
  const asks = { tool: 'mcp__steady__echo', arguments: { text: 'held' } };
  const first = beginCall(daemon, asks);
  const held = await heldCall(daemon);
  first.leave();
  await has('CallerLeft');
  const second = beginCall(daemon, asks);
  await has('CallerReturned');
  await post(`/v1/mcp/calls/${held.id}/approve`, { remember: 'once' });
  await second.answer;
  const other = await post('/v1/mcp/call', { ...asks, arguments: { text: 'later' }, wait: false });
  await post(`/v1/mcp/calls/${other.body.call}/deny`, { reason: 'not today' });

  // The file: an entry that changes, one that goes, and a moment in which it cannot be read.
  await post('/v1/mcp', { name: 'steady', server: { ...entries.steady, pollIntervalMs: 5_000 } });
  await has('StopRequested', ({ data }) => data.reason === 'config-changed', 'steady');
  await daemon.waitForServer('steady', 'ready');
  await post('/v1/mcp/remove', { name: 'gone' });
  await has('ServerRemoved');
  await post('/v1/allowlist', { tool: { prefix: 'mcp__web__', entries: [] } });
  await post('/v1/mcp/reconnect', { name: 'steady' });
  await daemon.waitForServer('steady', 'ready');

  // What is recorded, and a login with all that can become of it.
  await post('/v1/mcp/record', { name: 'web', on: true });
  await post('/v1/mcp/record', { name: 'web', on: false });
  await daemon.waitForServer('members', 'auth-required');
  await logIn(daemon, 'members', members);
  await daemon.waitForServer('members', 'ready');
  members.endLogins();
  await daemon.call('mcp__members__echo', { text: 'no longer' });
  await has('LoginLost');
  await daemon.waitForServer('members', 'auth-required');
  await logIn(daemon, 'members', members);
  await daemon.waitForServer('members', 'ready');
  members.expireAll();
  await daemon.call('mcp__members__echo', { text: 'with a new token' });
  await has('TokenRefreshed');
  await daemon.api('DELETE', '/v1/mcp/oauth', { name: 'members' });
  await has('CredentialsDeleted');

  // Killed while a call waits and while servers run; the next life closes what was open.
  await post('/v1/mcp/call', { ...asks, arguments: { text: 'abandoned' }, wait: false });
  await daemon.kill();
  await daemon.restart();
  await daemon.waitForServer('steady', 'ready');
  writeFileSync(daemon.config, '{ "mcpServers": ');
  await has('ConfigRejected');
  daemon.writeConfig({ steady: entries.steady, web: entries.web });
  await daemon.waitFor(async () => (await daemon.server('leaver')) === undefined);
  await pause(300);
  return daemon;
}
