/**
 * What a call through the hub costs, side by side: the server itself over HTTP, the daemon, the daemon without the facts of
 * calls in its log, and other hubs if their entry files are named: `MCPHUB_CLI` is `dist/cli.js` of the npm package `mcp-hub`,
 * `ONEMCP_CLI` is `build/index.js` of 1mcp (`@1mcp/agent`), both installed outside this project. Targets take turns in random
 * order within a round, since the machine is never quite the same. Time of the processor is the figure to trust.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { packageRoot } from '../src/root.ts';
import { httpClient, type McpClient, sseClient } from './client.ts';
import {
  cpuMs,
  figure,
  firstLine,
  median,
  residentMiB,
  round,
  sdkServer,
  sleep,
  startMeasured,
  until,
  within,
} from './lib.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 7);
const ONE_BY_ONE = 300;
const TOGETHER = 2_000;
const IN_FLIGHT = 32;
const MANY = 40_000;

interface Target {
  readonly name: string;
  readonly client: McpClient;
  readonly tool: string;
  /** Whose processor time is counted: the hub, or the server where there is none. */
  readonly pid: number;
  stop(): Promise<void>;
  readonly p50: number[];
  readonly rate: number[];
  readonly cpu: number[];
}

const target = (of: Pick<Target, 'name' | 'client' | 'tool' | 'pid' | 'stop'>): Target => ({
  ...of,
  p50: [],
  rate: [],
  cpu: [],
});

async function ended(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.removeAllListeners('exit');
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const hard = setTimeout(() => child.kill('SIGKILL'), 4_000);
  await Promise.race([gone, exit]);
  clearTimeout(hard);
}

async function direct(): Promise<Target> {
  const child = spawn(process.execPath, [join(packageRoot(), 'bench/servers/sdk-http.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await firstLine(child);
  const client = await httpClient(`http://127.0.0.1:${port}/mcp`);
  return target({
    name: 'direct, SDK server over HTTP',
    client,
    tool: 'echo',
    pid: child.pid ?? 0,
    stop: () => ended(child),
  });
}

async function ours(name: string, program?: string): Promise<Target> {
  const daemon = await startMeasured({ echo: sdkServer }, 0, program);
  const authorization = `Bearer ${daemon.token}`;
  await until(async () => {
    const { servers } = (await daemon.get('/v1/mcp/status')) as { servers: { state: string }[] };
    return servers[0]?.state === 'ready';
  });
  // The gate is asked for every call and finds this grant.
  await daemon.post('/v1/allowlist', { tool: { prefix: 'mcp__echo__', entries: ['mcp__echo__*'] } });
  const client = await httpClient(`${daemon.url}/mcp`, { authorization });
  return target({ name, client, tool: 'echo__echo', pid: daemon.pid, stop: () => daemon.stop() });
}

/** The same daemon, built without the facts of calls. */
async function withoutLog(): Promise<string> {
  const log = join(packageRoot(), 'bench/log.off.ts');
  const build = await rolldown({
    input: { main: join(packageRoot(), 'src/cli/main.ts') },
    platform: 'node',
    external: (id) => id === 'better-sqlite3' || id.startsWith('@napi-rs/keyring'),
    resolve: { mainFields: ['module', 'main'] },
    logLevel: 'silent',
    plugins: [
      {
        name: 'log-off',
        resolveId: (id, importer) => (id.endsWith('/sqlite.ts') && importer !== log ? log : null),
      },
    ],
  });
  const dir = join(packageRoot(), '.cache/bench/log-off');
  rmSync(dir, { recursive: true, force: true });
  await build.write({ dir, format: 'esm', entryFileNames: 'cli/main.js', chunkFileNames: 'chunks/[name]-[hash].js' });
  await build.close();
  return join(dir, 'cli/main.js');
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

/** Another hub: started as a black box with a configuration of its own. */
async function peer(
  name: string,
  variable: string,
  separator: string,
  args: (port: number, dir: string) => string[],
  connect: (url: string) => Promise<McpClient>,
): Promise<Target | null> {
  const script = process.env[variable];
  if (!script) {
    console.log(`${name}: not measured; name its entry file in ${variable}.`);
    return null;
  }
  const dir = mkdtempSync(join(tmpdir(), 'watchkeeper-bench-'));
  writeFileSync(join(dir, 'mcp.json'), JSON.stringify({ mcpServers: { echo: { type: 'stdio', ...sdkServer } } }));
  const port = await freePort();
  const child = spawn(process.execPath, [script, ...args(port, dir)], {
    stdio: 'ignore',
    cwd: dir,
    env: { ...process.env, HOME: dir, XDG_DATA_HOME: dir, XDG_STATE_HOME: dir, XDG_CONFIG_HOME: dir },
  });
  const tool = `echo${separator}echo`;
  const client = await until(
    async () => {
      // One that is still starting may take a connection and never answer on it.
      const one = await within(2_000, connect(`http://127.0.0.1:${port}/mcp`));
      if (one === null) return false;
      if ((await within(2_000, one.list()))?.some((listed) => listed.name === tool)) return one;
      one.close();
      return false;
    },
    200,
    60_000,
  );
  const stop = async (): Promise<void> => {
    await ended(child);
    rmSync(dir, { recursive: true, force: true });
  };
  return target({ name, client, tool, pid: child.pid ?? 0, stop });
}

async function calls(
  { client, tool, name }: Target,
  count: number,
  inFlight: number,
  latencies?: number[],
): Promise<number> {
  let left = count;
  const began = performance.now();
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const sent = performance.now();
      const { content } = await client.call(tool, { text: 'sixteen letters.' });
      latencies?.push(performance.now() - sent);
      if (!content[0]?.text.endsWith('sixteen letters.'))
        throw new Error(`${name} answered ${JSON.stringify(content)}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, one));
  return performance.now() - began;
}

const nolog = await withoutLog();
const targets = [
  await direct(),
  await ours('watchkeeper'),
  await ours('watchkeeper, log off', nolog),
  await peer(
    'mcp-hub',
    'MCPHUB_CLI',
    '__',
    (port, dir) => ['--port', String(port), '--config', join(dir, 'mcp.json')],
    sseClient,
  ),
  await peer(
    '1mcp',
    'ONEMCP_CLI',
    '_1mcp_',
    (port, dir) => [
      'serve',
      '--config-dir',
      dir,
      '--port',
      String(port),
      '--host',
      '127.0.0.1',
      '--log-level',
      'error',
    ],
    httpClient,
  ),
].filter((one) => one !== null);

for (const one of targets) await calls(one, 2_000, IN_FLIGHT);
for (let turn = 0; turn < ROUNDS; turn += 1) {
  for (const one of [...targets].sort(() => Math.random() - 0.5)) {
    const latencies: number[] = [];
    await calls(one, ONE_BY_ONE, 1, latencies);
    one.p50.push(median(latencies));
    const before = cpuMs(one.pid);
    const took = await calls(one, TOGETHER, IN_FLIGHT);
    one.cpu.push(((cpuMs(one.pid) - before) * 1_000) / TOGETHER);
    one.rate.push(TOGETHER / (took / 1_000));
  }
}
console.log(
  `${'16-byte echo, SDK server over stdio behind every hub'.padEnd(54)} p50 one by one   calls/s at 32   CPU a call`,
);
for (const { name, p50, rate, cpu } of targets) {
  console.log(
    `  ${name.padEnd(52)} ${String(round(median(p50) * 1_000)).padStart(11)} µs ${String(round(median(rate))).padStart(15)} ${String(round(median(cpu))).padStart(9)} µs`,
  );
}
const [own, us, off] = targets as [Target, Target, Target];
const other = targets.find(({ name }) => name === '1mcp');
/** Of the differences within a round: both saw the same machine. */
const paired = (one: number[], two: number[], join: (a: number, b: number) => number): number =>
  median(one.map((value, index) => join(value, two[index] ?? Number.NaN)));
figure('CPU of the daemon a call, log and gate on', round(median(us.cpu)), 'µs', { at: 'most', value: 150 });
figure(
  'added p50 over the direct connection',
  round(
    paired(us.p50, own.p50, (a, b) => a - b),
    3,
  ),
  'ms',
  { at: 'most', value: 0.2 },
);
figure(
  'calls/s at 32 in flight, times the direct server',
  round(
    paired(us.rate, own.rate, (a, b) => a / b),
    2,
  ),
  '',
  { at: 'least', value: 1.5 },
);
if (other)
  figure(
    'calls/s at 32 in flight, times 1mcp',
    round(
      paired(us.rate, other.rate, (a, b) => a / b),
      2,
    ),
    '',
    { at: 'least', value: 2.5 },
  );
figure('throughput the log costs', round(100 * paired(us.rate, off.rate, (a, b) => 1 - a / b)), '%', {
  at: 'most',
  value: 20,
});
figure('CPU the log costs a call', round(paired(us.cpu, off.cpu, (a, b) => a - b)), 'µs', { at: 'most', value: 45 });

const small = residentMiB(us.pid);
let halfway = 0;
for (let done = 0; done < MANY; done += MANY / 4) {
  await calls(us, MANY / 4, IN_FLIGHT);
  if (done < MANY / 2) halfway = residentMiB(us.pid);
}
await sleep(10_000);
console.log(`${MANY} calls in one session: ${round(small)} MiB before, ${round(halfway)} MiB halfway`);
figure('  resident memory after them, 10 s idle', round(residentMiB(us.pid)), 'MiB', { at: 'most', value: 100 });

for (const one of targets) {
  one.client.close();
  await one.stop();
}
