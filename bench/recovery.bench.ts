/** How soon a call works again after a server was killed, and after an HTTP server forgot its sessions. */
import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
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
