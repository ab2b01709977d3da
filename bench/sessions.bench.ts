/** Sessions of the MCP endpoint that are opened and abandoned, half of them with a stream: what they take, and leave behind. */
import { httpClient } from './client.ts';
import { figure, residentMiB, round, sdkServer, sleep, startMeasured, until } from './lib.ts';

const MANY = 500;
const ROUNDS = 4;
/** V8 cleans up when nothing was asked of it for some seconds. */
const IDLE_MS = 10_000;
// The daemon takes it from here; half an hour would be long to wait for.
process.env.WATCHKEEPER_MCP_SESSION_IDLE_MS = '2000';

const daemon = await startMeasured({ echo: sdkServer });
const headers = { authorization: `Bearer ${daemon.token}` };
await until(async () => {
  const { servers } = (await daemon.get('/v1/mcp/status')) as { servers: { state: string }[] };
  return servers[0]?.state === 'ready';
});
await daemon.post('/v1/allowlist', { tool: { prefix: 'mcp__echo__', entries: ['mcp__echo__*'] } });

async function kept(): Promise<number> {
  const text = await (await fetch(`${daemon.url}/metrics`, { headers })).text();
  return Number(/^watchkeeper_mcp_sessions (\d+)$/m.exec(text)?.[1]);
}

/** What a client does before its machine goes to sleep. */
async function openAndAbandon(listening: boolean): Promise<void> {
  const client = await httpClient(`${daemon.url}/mcp`, headers);
  await client.list();
  await client.call('echo__echo', { text: 'sixteen letters.' });
  if (listening) await client.listen();
  client.close();
}

const open: number[] = [];
const after: number[] = [];
for (let turn = 0; turn < ROUNDS; turn += 1) {
  for (let opened = 0; opened < MANY; opened += 20)
    await Promise.all(Array.from({ length: 20 }, (_, index) => openAndAbandon(index % 2 === 0)));
  open.push(residentMiB(daemon.pid));
  await until(async () => (await kept()) === 0, 100);
  await sleep(IDLE_MS);
  after.push(residentMiB(daemon.pid));
}
await daemon.stop();

const line = (values: readonly number[]): string => values.map((value) => round(value)).join(', ');
console.log(`${MANY} sessions opened and abandoned, ${ROUNDS} times; resident MiB of the daemon`);
console.log(`  after they were opened:  ${line(open)}`);
console.log(`  after they expired:      ${line(after)}`);
const [first = Number.NaN] = after;
const grown = round((after.at(-1) ?? Number.NaN) - first, 1);
figure('  after the last round, more than after the first', grown, 'MiB', { at: 'most', value: 10 });
