import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/canonical.ts';
import { sha256Hex } from '../../src/hash.ts';
import { type Daemon, type Home, plainEnv, startDaemon } from '../support/daemon.ts';
import { stdioEntry } from '../support/fixtures.ts';
import { cliMain } from '../support/paths.ts';
import { findByEnv, signal, untilGone } from '../support/processes.ts';
import { tempDir } from '../support/temp.ts';
import { until } from '../support/wait.ts';
import { environmentOf, isUnbroken, watchMarks } from './asking.ts';

const ROUNDS = 50;
const SEED = 20_260_728;
const WORKERS = 6;

/** Numbers from 0 to 1, the same in every run (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Answered {
  readonly call: string;
  readonly outcome: string;
}

describe('A daemon that is killed again and again under load', () => {
  const random = randomOf(SEED);
  const folder = tempDir();
  const seenFile = (n: number) => join(folder, 'seen', String(n));
  /** What the API said, before any of the deaths. */
  const acknowledged = new Map<number, any>();
  const answered: Answered[] = [];
  const held = new Set<string>();
  const argsOf = new Map<number, Record<string, unknown>>();
  let calls = 0;
  let restarts = 0;
  let daemon: Daemon;
  let most: Record<string, number>;
  let log: any[];

  /** One call of a random kind; whatever the API answers is noted. */
  async function callOnce(): Promise<void> {
    calls += 1;
    const n = calls;
    const dice = random();
    const server = ['alpha', 'beta', 'gamma'][Math.floor(random() * 3)];
    if (dice < 0.05) {
      await note(daemon.call(`mcp__${server}__die`, { code: n % 256 }));
    } else if (dice < 0.15) {
      await note(daemon.call(`mcp__${server}__sleep`, { ms: 20_000 + n }));
    } else {
      const ask = dice < 0.35;
      const args = { file: seenFile(n), ms: Math.floor(random() * 40) };
      argsOf.set(n, args);
      const more = ask ? { permission_mode: 'ask', wait: false } : {};
      const reply = await note(daemon.call(`mcp__${server}__counter`, args, more));
      if (reply?.status !== 202) return;
      held.add(reply.body.call);
      if (dice < 0.25) await daemon.api('POST', `/v1/mcp/calls/${reply.body.call}/approve`, {});
    }
  }

  async function note(asking: ReturnType<Daemon['call']>): Promise<Awaited<typeof asking> | null> {
    const reply = await asking;
    if (reply.body.outcome !== undefined) answered.push({ call: reply.body.call, outcome: reply.body.outcome });
    return reply;
  }

  /** Everybody calls and reads until the daemon is gone. */
  async function load(killAfterMs: number): Promise<void> {
    let over = false;
    const loop = async (work: () => Promise<unknown>) => {
      while (!over) await work().catch(() => pause(5));
    };
    let after = log.at(-1)?.position ?? 0;
    const reading = async () => {
      const { body } = await daemon.api('GET', `/v1/events?limit=1000&after=${after}`);
      for (const event of body.events) acknowledged.set(event.position, event);
      after = body.events.at(-1)?.position ?? after;
      await pause(5);
    };
    const everybody = [...Array.from({ length: WORKERS }, () => loop(callOnce)), loop(reading)];
    await pause(killAfterMs);
    over = true;
    await daemon.kill();
    await Promise.all(everybody);
  }

  /** Kills it before it has said that it is ready. */
  async function killWhileStarting(home: Home, afterMs: number): Promise<void> {
    const args = ['up', '--json', '--port', '0', '--config', home.config, '--data', home.dir];
    const child = spawn(process.execPath, [cliMain, ...args], {
      cwd: home.home,
      env: plainEnv(home.home),
      stdio: 'ignore',
    });
    await pause(afterMs);
    signal(child.pid ?? 0, 'SIGKILL');
    await untilGone(child.pid ?? 0);
  }

  /** What has to be true right after every start. */
  async function check(): Promise<void> {
    const started = (await daemon.events({ type: 'DaemonStarted', after: log.at(-1)?.position ?? 0 })).at(-1);
    log.push(...(await daemon.events({ after: log.at(-1)?.position ?? 0 })));

    // Nothing that was told is missing or has become something else.
    for (const [position, event] of acknowledged) expect(log[position - 1]).toEqual(event);
    acknowledged.clear();

    // Whatever was open is closed.
    for (const state of ['running', 'held', 'approved']) {
      expect((await daemon.api('GET', `/v1/mcp/calls?state=${state}`)).body.calls).toEqual([]);
    }
    const intervals = await daemon.history();
    for (const server of new Set(intervals.map((interval) => interval.server))) {
      expect(isUnbroken(intervals.filter((interval) => interval.server === server))).toBe(true);
    }

    // Nothing of an earlier run is left.
    await until(
      () =>
        findByEnv('HOME', daemon.home)
          .filter(({ pid, state }) => state !== 'Z' && pid !== daemon.pid)
          .every(({ pid }) => (environmentOf(pid).WATCHKEEPER_RUN ?? started.data.run).endsWith(started.data.run)),
      { limitMs: 15_000, what: 'the end of the servers of earlier runs' },
    );
  }

  beforeAll(async () => {
    mkdirSync(join(folder, 'seen'));
    log = [];
    // They do not go by themselves when the daemon does.
    const entry = (name: string) =>
      stdioEntry({ behaviour: { stubborn: 'eof' } }, { env: { MARK: `crash-${name}` }, stableMs: 50 });
    daemon = await startDaemon({
      servers: { alpha: entry('alpha'), beta: entry('beta'), gamma: entry('gamma') },
      settings: { log: { level: 'fatal' } },
    });
    for (const name of ['alpha', 'beta', 'gamma']) await daemon.waitForServer(name, 'ready');
    const watching = watchMarks(100);
    for (let round = 0; round < ROUNDS; round += 1) {
      if (round % 5 === 4) await killWhileStarting(daemon, 50 + random() * 600);
      else await load(random() * 900);
      if (round % 5 === 3) continue;
      await daemon.restart();
      restarts += 1;
      await check();
    }
    // The last one lives.
    for (const name of ['alpha', 'beta', 'gamma']) await daemon.waitForServer(name, 'ready');
    most = await watching.stop();
    log.push(...(await daemon.events({ after: log.at(-1)?.position ?? 0 })));
  }, 300_000);
  afterAll(() => daemon.stop());

  const ofType = (type: string) => log.filter((event) => event.type === type);
  const callOf = ({ stream }: any) => stream.slice('call-'.length);

  it('starts again each time, with a log that has no hole', () => {
    expect(restarts).toBe(ROUNDS - ROUNDS / 5);
    expect(ofType('DaemonStarted').length).toBeGreaterThan(restarts);
    expect(log.map(({ position }) => position)).toEqual(log.map((_, n) => n + 1));
    const versions = new Map<string, number>();
    for (const { stream, version } of log) {
      expect(version).toBe((versions.get(stream) ?? 0) + 1);
      versions.set(stream, version);
    }
    // It was worth it.
    expect(calls).toBeGreaterThan(500);
    expect(answered.length).toBeGreaterThan(200);
  });

  it('has the start of every call that a server saw, and no server saw one twice', () => {
    const started = new Set(ofType('CallStarted').map(({ data }) => data.argsHash));
    const seen = readdirSync(join(folder, 'seen')).map(Number);
    expect(seen.length).toBeGreaterThan(100);
    for (const n of seen) {
      expect(started.has(sha256Hex(canonicalJson(argsOf.get(n)))), `call ${n}`).toBe(true);
      expect(readFileSync(seenFile(n), 'utf8').trim().split('\n'), `call ${n}`).toHaveLength(1);
    }
  });

  it('has the end of every call that was answered, with the outcome that was told', () => {
    const ends = new Map(ofType('CallSettled').map((event) => [callOf(event), event.data.outcome]));
    for (const { call, outcome } of answered) expect(ends.get(call)).toBe(outcome);
    const outcomes = new Set(answered.map(({ outcome }) => outcome));
    expect(outcomes).toContain('succeeded');
    expect(outcomes).toContain('unknown');
  });

  it('ends what a death left open: as unknown when it may have run, as abandoned when it waited for a person', () => {
    const boots = ofType('DaemonStarted').map(({ position }) => position);
    const runOf = ({ position }: any) => boots.findLastIndex((boot) => boot < position);
    const first = new Map<string, any>();
    for (const event of log) {
      if (event.stream.startsWith('call-') && !first.has(callOf(event))) first.set(callOf(event), event);
    }
    const settled = ofType('CallSettled');
    expect(settled.map(callOf).sort()).toEqual([...first.keys()].sort());
    for (const call of held) expect(first.has(call)).toBe(true);

    const started = new Set(ofType('CallStarted').map(callOf));
    const known = new Set(answered.map(({ call }) => call));
    let unknown = 0;
    let abandoned = 0;
    for (const event of settled) {
      const call = callOf(event);
      if (runOf(event) === runOf(first.get(call))) continue;
      expect(known.has(call)).toBe(false);
      expect(event.data.outcome).toBe(started.has(call) ? 'unknown' : 'abandoned');
      if (started.has(call)) unknown += 1;
      else abandoned += 1;
    }
    expect(unknown).toBeGreaterThan(20);
    expect(abandoned).toBeGreaterThan(5);
  });

  it('never ran two processes of one server at the same time', () => {
    expect(most).toMatchObject({ 'crash-alpha': 1, 'crash-beta': 1, 'crash-gamma': 1 });
  });

  it('shows the times nobody watched, and makes the same of its log when it reads it anew', async () => {
    for (const name of ['alpha', 'beta', 'gamma']) {
      const intervals = await daemon.history(name);
      expect(intervals.filter(({ state }) => state === 'unobserved').length).toBeGreaterThanOrEqual(restarts);
      expect(intervals.filter(({ to }) => to === null)).toHaveLength(1);
      expect(intervals.at(-1)).toMatchObject({ state: 'ready', to: null });
    }
    const views = async () =>
      Promise.all(
        ['/v1/mcp/status', '/v1/mcp/history', '/v1/mcp/tools', '/v1/mcp/calls?limit=500'].map(
          async (path) => (await daemon.api('GET', path)).body,
        ),
      );
    const live = await views();
    expect((await daemon.api('POST', '/v1/rebuild')).body).toMatchObject({ ok: true });
    expect(await views()).toEqual(live);
    expect(existsSync(join(daemon.dir, 'daemon.json'))).toBe(true);
  });
});
