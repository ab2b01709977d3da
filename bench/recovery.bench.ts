/** How soon a call works again after a server was killed, and after an HTTP server forgot its sessions; what sessions see of it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { httpClient } from './client.ts';
import {
  figure,
  firstLine,
  fixture,
  median,
  round,
  sdkServer,
  sleep,
  startMeasured,
  tinyServer,
  until,
} from './lib.ts';

const ROUNDS = 5;
// Bundled with this file it would take itself for the program, and serve.
const { sessionRefusals, startHttpFake } = (await import(
  pathToFileURL(fixture('http-server.mjs')).href
)) as typeof import('../test/fixtures/http-server.mjs');

async function spawnAndInitialize({ command, args }: { command: string; args: string[] }): Promise<number> {
  const began = performance.now();
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.write(
    `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } } })}\n`,
  );
  await firstLine(child);
  const took = performance.now() - began;
  child.removeAllListeners('exit');
  child.kill('SIGKILL');
  return took;
}

for (const [name, entry] of [
  ['small server', tinyServer],
  ['SDK server', sdkServer],
] as const) {
  const daemon = await startMeasured({ one: entry });
  const call = (): Promise<{ status: number; body: any }> =>
    daemon.post('/v1/mcp/call', { tool: 'mcp__one__echo', arguments: {}, permission_mode: 'allow-all' });
  await until(async () => (await call()).status === 200);
  const own: number[] = [];
  const back: number[] = [];
  const shown: number[] = [];
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    own.push(await spawnAndInitialize(entry));
    await sleep(3000);
    const pid = ((await daemon.get('/v1/mcp/status')) as { servers: { pid: number }[] }).servers[0]?.pid ?? 0;
    const began = performance.now();
    process.kill(pid, 'SIGKILL');
    const seen = until(async () => {
      const { servers } = (await daemon.get('/v1/mcp/status')) as { servers: { pid: number | null; state: string }[] };
      return servers[0]?.pid !== pid && performance.now() - began;
    }, 2);
    back.push(
      await until(async () => {
        const { status, body } = await call();
        return status === 200 && !String(body.content[0].text).startsWith(`${pid} `) && performance.now() - began;
      }, 2),
    );
    shown.push(await seen);
  }
  await daemon.stop();
  console.log(`${name} killed, ${ROUNDS} rounds`);
  figure('  its own spawn and initialize', round(median(own)), 'ms');
  figure('  a call works again', round(median(back)), 'ms', { at: 'most', value: round(median(own) * 1.5) });
  figure('  status no longer shows the dead process', round(median(shown)), 'ms', { at: 'most', value: 100 });
}

/** A session that is open while a server dies and comes back with one tool more: from the fact that it is ready to the list. */
async function sessionSeesReturn(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'watchkeeper-bench-'));
  const control = join(dir, 'control.json');
  const tools = [{ name: 'tool-0', inputSchema: { type: 'object' } }];
  const offer = (): void => {
    writeFileSync(`${control}.next`, JSON.stringify({ tools }));
    renameSync(`${control}.next`, control);
  };
  offer();
  const args = [fixture('stdio-server.mjs'), '--control', control];
  const daemon = await startMeasured({ one: { command: process.execPath, args } });
  const row = async (): Promise<{ pid: number; state: string } | undefined> =>
    ((await daemon.get('/v1/mcp/status')) as { servers: { pid: number; state: string }[] }).servers[0];
  await until(async () => (await row())?.state === 'ready');
  const client = await httpClient(`${daemon.url}/mcp`, { authorization: `Bearer ${daemon.token}` });
  let told: () => void = () => {};
  await client.listen((data) => {
    if (data.includes('tools/list_changed')) told();
  });
  const heard: number[] = [];
  const listed: number[] = [];
  for (let turn = 1; turn <= ROUNDS; turn += 1) {
    await sleep(3000);
    const name = `tool-${turn}`;
    const change = new Promise<void>((resolve) => {
      told = resolve;
    });
    tools.push({ name, inputSchema: { type: 'object' } });
    offer();
    process.kill((await row())?.pid ?? 0, 'SIGKILL');
    await change;
    const heardAt = Date.now();
    const list = await client.list();
    const listedAt = Date.now();
    if (!list.some((tool) => tool.name === `one__${name}`)) throw new Error(`${name} is not listed.`);
    const { events } = (await daemon.get('/v1/events?stream=server-one&limit=1000')) as {
      events: { at: string; data: { to?: string } }[];
    };
    const readyAt = Date.parse(events.findLast(({ data }) => data.to === 'ready')?.at ?? '');
    heard.push(heardAt - readyAt);
    listed.push(listedAt - readyAt);
  }
  client.close();
  await daemon.stop();
  rmSync(dir, { recursive: true, force: true });
  console.log(`a session open since before its server was killed, ${ROUNDS} rounds; from the fact that it is ready`);
  figure('  the session hears of the change', round(median(heard)), 'ms', { at: 'most', value: 100 });
  figure('  it has listed the server again', round(median(listed)), 'ms', { at: 'most', value: 100 });
}

await sessionSeesReturn();

for (const { title, status, body } of sessionRefusals) {
  const fake = await startHttpFake({ behaviour: { unknownSession: { status, body } } });
  const daemon = await startMeasured({ one: { url: fake.url } });
  const call = (): Promise<{ status: number; body: any }> =>
    daemon.post('/v1/mcp/call', { tool: 'mcp__one__echo', arguments: { text: 'x' }, permission_mode: 'allow-all' });
  await until(async () => (await call()).status === 200);
  const back: number[] = [];
  let initializes = 0;
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    await sleep(1000);
    const before = fake.received('initialize');
    fake.control.forget();
    const began = performance.now();
    await until(async () => (await call()).status === 200, 2);
    back.push(performance.now() - began);
    initializes += fake.received('initialize') - before;
  }
  await daemon.stop();
  await fake.close();
  figure(`sessions forgotten (${title}): a call works again`, round(median(back)), 'ms', { at: 'most', value: 150 });
  figure('  initializes a round', initializes / ROUNDS, '', { at: 'most', value: 1 });
}
