/** What the daemon takes while nothing happens. */
import { cpuMs, figure, residentMiB, round, sleep, startMeasured, tinyServer, until } from './lib.ts';

const SECONDS = 60;
const daemon = await startMeasured(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`s${n}`, tinyServer])));
await until(async () => {
  const { servers } = (await daemon.get('/v1/mcp/status')) as { servers: { state: string }[] };
  return servers.every(({ state }) => state === 'ready');
}, 100);
await sleep(5_000);
const before = cpuMs(daemon.pid);
await sleep(SECONDS * 1000);
figure(
  `idle with 50 servers, share of one core over ${SECONDS} s`,
  round((cpuMs(daemon.pid) - before) / (SECONDS * 10), 2),
  '%',
  { at: 'most', value: 1 },
);
figure('resident memory', round(residentMiB(daemon.pid)), 'MiB', { at: 'most', value: 100 });
await daemon.stop();
