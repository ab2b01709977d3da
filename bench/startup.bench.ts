/** How soon many servers are ready, beside what spawning them alone takes; and when the port opens. */
import { type ChildProcess, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { join } from 'node:path';
import { packageRoot } from '../src/root.ts';
import { figure, median, round, sdkServer, sleep, startMeasured, tinyServer, until } from './lib.ts';

const COUNT = 50;
const ROUNDS = Number(process.env.ROUNDS ?? 3);
type Entry = { command: string; args: string[] };

/** Spawns all at once, initializes and lists each: the floor no supervisor gets below. */
async function spawningOnly(entry: Entry): Promise<number> {
  const began = performance.now();
  const children: ChildProcess[] = [];
  await Promise.all(
    Array.from({ length: COUNT }, () => {
      const child = spawn(entry.command, entry.args, { stdio: ['pipe', 'pipe', 'ignore'] });
      children.push(child);
      const say = (message: object): boolean =>
        child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`) ?? false;
      say({
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
      });
      return new Promise<void>((resolve) => {
        let lines = 0;
        child.stdout?.on('data', (data: Buffer) => {
          const before = lines;
          lines += data.toString().split('\n').length - 1;
          if (before === 0 && lines > 0) {
            say({ method: 'notifications/initialized' });
            say({ id: 2, method: 'tools/list', params: {} });
          }
          if (lines >= 2) resolve();
        });
      });
    }),
  );
  const took = performance.now() - began;
  await Promise.all(children.map((child) => new Promise((resolve) => child.once('exit', resolve).kill('SIGKILL'))));
  return took;
}

interface Times {
  readonly first: number;
  readonly middle: number;
  readonly last: number;
}

async function supervised(entry: Entry): Promise<Times> {
  const servers = Object.fromEntries(
    Array.from({ length: COUNT }, (_, index) => [`s${String(index).padStart(2, '0')}`, entry]),
  );
  const daemon = await startMeasured(servers);
  const readyAt = await until(async () => {
    const { servers: rows } = (await daemon.get('/v1/mcp/status')) as { servers: { state: string; since: string }[] };
    return rows.every(({ state }) => state === 'ready') && rows.map(({ since }) => Date.parse(since));
    // Times come from the answer, so it is asked seldom: whoever asks takes time of the two cores that are measured.
  }, 250);
  const began = performance.timeOrigin + daemon.startedAt;
  const times = readyAt.map((at) => at - began).sort((a, b) => a - b);
  await daemon.stop();
  return { first: times[0] ?? 0, middle: median(times), last: times.at(-1) ?? 0 };
}

async function portOpens(servers: object): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 30_000);
  let opened = 0;
  const began = performance.now();
  const starting = startMeasured(servers, port);
  while (opened === 0) {
    opened = await new Promise<number>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(performance.now() - began);
      });
      socket.once('error', () => resolve(0));
    });
    if (opened === 0) await sleep(3);
  }
  await (await starting).stop();
  return opened;
}

const silent = { command: process.execPath, args: [join(packageRoot(), 'bench/servers/silent.mjs')] };

for (const [name, entry] of [
  ['small servers', tinyServer],
  ['SDK servers', sdkServer],
] as const) {
  const floors: number[] = [];
  const times: Times[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    floors.push(await spawningOnly(entry));
    times.push(await supervised(entry));
  }
  const floor = median(floors);
  const last = median(times.map((time) => time.last));
  console.log(`${COUNT} ${name}, ${ROUNDS} rounds`);
  figure('  spawning alone, all listed', round(floor), 'ms');
  figure('  the daemon, all ready (from process start)', round(last), 'ms', {
    at: 'most',
    value: round(floor * 1.1 + 250),
  });
  figure('  first ready', round(median(times.map((time) => time.first))), 'ms', { at: 'most', value: 700 });
  figure('  median ready, share of the last', round(median(times.map((time) => time.middle / time.last)), 2), '', {
    at: 'most',
    value: 0.6,
  });
}

const bare: number[] = [];
const silentOnes: number[] = [];
for (let round = 0; round < 5; round += 1) {
  bare.push(await portOpens({}));
  silentOnes.push(await portOpens({ mute: silent, other: tinyServer }));
}
figure('port open, no servers', round(median(bare)), 'ms', { at: 'most', value: 400 });
figure('port open, one server never answers', round(median(silentOnes)), 'ms', { at: 'most', value: 400 });

const daemon = await startMeasured({
  mute: silent,
  ...Object.fromEntries(Array.from({ length: 19 }, (_, n) => [`t${n}`, tinyServer])),
});
const others = await until(async () => {
  const { servers: rows } = (await daemon.get('/v1/mcp/status')) as { servers: { state: string }[] };
  return rows.filter(({ state }) => state === 'ready').length === 19 && performance.now() - daemon.startedAt;
}, 20);
figure('one of 20 never answers: the other 19 ready', round(others), 'ms');
await daemon.stop();
