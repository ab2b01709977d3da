import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { doctor } from '../../src/http/contract.doctor.ts';
import { summary } from '../../src/http/contract.summary.ts';
import { type Daemon, runCli, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { signal } from '../support/processes.ts';
import { httpEntry, httpFake } from './given.ts';

/** A port that nothing listens at. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('What was and what is wrong', { timeout: 60_000 }, () => {
  let daemon: Daemon;
  let well: Steered;

  beforeAll(async () => {
    well = steered();
    const remote = await httpFake();
    daemon = await startDaemon({
      variables: { SECRET: 'hush-hush-hush' },
      servers: {
        chatty: { command: 'sh', args: ['-c', 'echo "Welcome!"; sleep 60'], connectTimeoutMs: 1_500 },
        closed: { url: `http://127.0.0.1:${await closedPort()}/mcp`, headers: { 'X-Key': '${SECRET}' } },
        off: { command: 'node', disabled: true },
        remote: httpEntry(remote, { headers: { 'X-Key': '${SECRET}' } }),
        script: { command: process.execPath, args: ['/no/such/server.mjs', '--key', 'hush-hush-hush'] },
        typo: { command: 'nodee', env: { TOKEN: '${SECRET}' } },
        unset: { command: 'node', env: { TOKEN: '${NO_SUCH_VARIABLE}' } },
        well: stdioEntry(well.options),
      },
    });
    for (const name of ['well', 'remote']) await daemon.waitForServer(name, 'ready');
    for (const name of ['chatty', 'closed', 'script']) await daemon.waitForServer(name, 'backing-off');
    for (const name of ['typo', 'unset']) await daemon.waitForServer(name, 'failed');
  });
  afterAll(() => daemon.stop());

  it('is found for every server, with rows of the log and checks, and nothing secret is said', async () => {
    const { status, body } = await daemon.api('GET', '/v1/mcp/doctor');
    expect(status).toBe(200);
    const { ok, servers, daemon: own } = doctor.parse(body);
    expect(ok).toBe(false);
    expect(own).toMatchObject({ ok: true, running: true });
    expect(servers.map(({ name, ok: good, kind }) => [name, good, kind])).toEqual([
      ['chatty', false, 'not-protocol'],
      ['closed', false, 'port-closed'],
      ['off', true, 'disabled'],
      ['remote', true, 'well'],
      ['script', false, 'script-missing'],
      ['typo', false, 'command-missing'],
      ['unset', false, 'entry-error'],
      ['well', true, 'well'],
    ]);
    const facts = new Map((await daemon.events()).map((fact) => [fact.position, fact]));
    const closed = servers.find(({ name }) => name === 'closed');
    const { position, at } = closed?.evidence[0] ?? {};
    expect(facts.get(position)).toMatchObject({ stream: 'server-closed', type: 'ConnectFailed', at });
    expect(JSON.stringify(body)).not.toContain('hush');
  });

  it('is found for one server alone, without the daemon', async () => {
    const { body } = await daemon.api('GET', '/v1/mcp/doctor?name=remote');
    expect(doctor.parse(body)).toMatchObject({ ok: true, servers: [{ name: 'remote' }] });
    expect(body.daemon).toBeUndefined();
    expect(body.servers[0].checks.map(({ name }: { name: string }) => name)).toEqual([
      'variables',
      'port',
      'http',
      'tool-names',
    ]);
    expect((await daemon.api('GET', '/v1/mcp/doctor?name=nobody')).status).toBe(404);
  });

  it('starts no server to find it out', async () => {
    const before = well.counted('spawn');
    await daemon.api('GET', '/v1/mcp/doctor?name=well');
    expect(well.counted('spawn')).toBe(before);
  });

  it('is the exit code of the command', async () => {
    expect((await runCli(daemon, ['doctor', 'well'])).code).toBe(0);
    const all = await runCli(daemon, ['doctor', '--json']);
    expect(all.code).toBe(1);
    expect(doctor.parse(JSON.parse(all.stdout)).servers).toHaveLength(8);
  });

  it('is summed up: losses, repairs and failures, with the rows they stand in', async () => {
    const { pid } = await daemon.server('well');
    signal(pid, 'SIGKILL');
    await daemon.waitForServer('well', (row) => row.state === 'ready' && row.pid !== pid);
    const { body } = await daemon.api('GET', '/v1/mcp/history/summary?name=well');
    const [server] = summary.parse(body).servers;
    const [lost] = await daemon.events({ stream: 'server-well', type: 'SessionLost' });
    expect(server).toMatchObject({ name: 'well', state: 'ready', losses: 1, repairs: 1, starts: 1 });
    expect(server?.failures[0]).toMatchObject({ code: 'SIGKILL', count: 1, positions: [lost.position] });
    expect(server?.failures[0]?.first.at).toBe(lost.at);
    expect(server?.latency.connect.count).toBe(2);
    const { readyMs = 0, downMs = 0, restingMs = 0, unobservedMs = 0 } = server?.time ?? {};
    const whole = Date.parse(server?.to ?? '') - Date.parse(server?.from ?? '');
    expect(readyMs + downMs + restingMs + unobservedMs).toBe(whole);
    expect(server?.availability).toBeGreaterThan(0);
    expect(server?.availability).toBeLessThan(1);
  });

  it('is summed up for all servers, and for a stretch alone', async () => {
    const { body } = await daemon.api('GET', '/v1/mcp/history/summary');
    expect(summary.parse(body).servers.map(({ name }) => name)).toContain('closed');
    const from = new Date().toISOString();
    const { servers } = (await daemon.api('GET', `/v1/mcp/history/summary?name=well&from=${from}`)).body;
    expect(servers[0]).toMatchObject({ losses: 0, facts: 0, availability: 1 });
    expect((await daemon.api('GET', '/v1/mcp/history/summary?name=nobody')).status).toBe(404);
    const future = new Date(Date.now() + 60_000).toISOString();
    expect((await daemon.api('GET', `/v1/mcp/history/summary?from=${future}`)).status).toBe(400);
  });

  it('of a moment that has yet to come is not made up: status and tools name the newest fact', async () => {
    const newest = (await daemon.events()).at(-1).position;
    for (const path of ['status', 'tools']) {
      for (const at of [new Date(Date.now() + 60_000).toISOString(), String(newest + 1_000_000)]) {
        const { status, body } = await daemon.api('GET', `/v1/mcp/${path}?at=${at}`);
        expect([path, at, status, body.code]).toEqual([path, at, 400, 'invalid-request']);
        expect(body.detail).toMatch(/newest fact is at position \d+, \d{4}-/);
      }
    }
    expect((await daemon.api('GET', `/v1/mcp/status?at=${newest}`)).status).toBe(200);
  });

  it('is still found when the daemon has ended: from files and log, and the daemon is what is wrong', async () => {
    await daemon.stop();
    const all = await runCli(daemon, ['doctor', '--json']);
    expect(all.code).toBe(1);
    const { servers, daemon: own } = doctor.parse(JSON.parse(all.stdout));
    expect(own).toMatchObject({ ok: false, running: false });
    expect(servers.find(({ name }) => name === 'typo')).toMatchObject({ kind: 'command-missing', ok: false });
    expect(servers.find(({ name }) => name === 'well')).toMatchObject({ ok: true, state: 'ready' });
    expect(all.stdout).not.toContain('hush');
    const summed = await runCli(daemon, ['history', 'well', '--summary', '--json']);
    expect(summary.parse(JSON.parse(summed.stdout)).servers[0]).toMatchObject({ losses: 1 });
  });
});
