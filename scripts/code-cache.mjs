/**
 * Makes `dist/code.cache`: what V8 compiled while the built program did once what it does most (start with a server, list,
 * call over both ways, answer a command). `dist/cli/main.js` starts from it.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Longest that the whole run may take, in ms: a build must not hang on it. */
const LIMIT_MS = 60_000;
const ANSWER_MS = 10_000;

function record(entry, dir, name, args) {
  const recorder = join(root, 'scripts/bundle/record.cjs');
  const options = ['--config', join(dir, 'mcp.json'), '--data', join(dir, 'data')];
  const child = spawn(process.execPath, [recorder, entry, join(dir, name), ...args, ...options], {
    cwd: dir,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, HOME: dir },
  });
  const ended = new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve();
      else reject(new Error(`${args[0]} ended with ${code ?? signal}`));
    });
  });
  return { child, ended };
}

/** Resolves with the address once the daemon says that it is ready. */
function address({ child, ended }) {
  const lines = createInterface({ input: child.stdout });
  const said = new Promise((resolve) => lines.once('line', (line) => resolve(JSON.parse(line).url)));
  return Promise.race([said, ended.then(() => Promise.reject(new Error('the daemon ended at once')))]);
}

async function use(url, data) {
  const headers = {
    authorization: `Bearer ${readFileSync(join(data, 'token'), 'utf8').trim()}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'watchkeeper-permission-mode': 'allow-all',
  };
  const ask = async (path, body, more = {}) => {
    const method = body === undefined ? 'GET' : 'POST';
    const response = await fetch(url + path, {
      method,
      signal: AbortSignal.timeout(ANSWER_MS),
      headers: { ...headers, ...more },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    return { response, text: await response.text() };
  };
  const tool = 'mcp__calm__tell_time';
  for (let tries = 0; tries < 400; tries += 1) {
    const { text } = await ask('/v1/mcp/status');
    if (text.includes('"ready"')) break;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  for (const path of ['/health', '/v1/mcp', '/v1/mcp/tools', '/v1/mcp/history?server=calm']) await ask(path);
  const version = '2025-06-18';
  const client = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'build', version: '1' } };
  const begun = await ask('/mcp', { jsonrpc: '2.0', id: 1, method: 'initialize', params: client });
  const session = { 'mcp-session-id': begun.response.headers.get('mcp-session-id'), 'mcp-protocol-version': version };
  await ask('/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }, session);
  await ask('/mcp', { jsonrpc: '2.0', id: 2, method: 'tools/list' }, session);
  for (let id = 3; id < 50; id += 1) {
    await ask('/v1/mcp/call', { tool, arguments: {} });
    await ask('/mcp', { jsonrpc: '2.0', id, method: 'tools/call', params: { name: tool, arguments: {} } }, session);
  }
}

/** A line of JSON, then the parts one after the other; of a file that several runs have loaded, the largest. */
function joined(dirs) {
  const files = new Map();
  for (const dir of dirs) {
    const names = JSON.parse(readFileSync(join(dir, 'index.json'), 'utf8'));
    for (const [at, name] of names.entries()) {
      const part = readFileSync(join(dir, `${at}.bin`));
      if (part.length > (files.get(name)?.length ?? 0)) files.set(name, part);
    }
  }
  let end = 0;
  const parts = {};
  for (const [name, part] of files) {
    parts[name] = [end, end + part.length];
    end += part.length;
  }
  return Buffer.concat([Buffer.from(`${JSON.stringify({ v8: process.versions.v8, parts })}\n`), ...files.values()]);
}

/** Resolves with the content of the cache; rejects when the program cannot be run here. `entry` is its path below `dist`. */
export async function makeCodeCache(entry) {
  const dir = mkdtempSync(join(tmpdir(), 'watchkeeper-build-'));
  try {
    const calm = { command: process.execPath, args: [join(root, 'examples/flaky-server.mjs'), '--calm'] };
    writeFileSync(join(dir, 'mcp.json'), JSON.stringify({ servers: { calm } }));
    const daemon = record(entry, dir, 'daemon', ['up', '--quiet', '--json', '--port', '0']);
    try {
      await use(await address(daemon), join(dir, 'data'));
      await record(entry, dir, 'status', ['status']).ended;
    } finally {
      daemon.child.kill('SIGTERM');
      await daemon.ended;
    }
    return joined([join(dir, 'daemon'), join(dir, 'status')]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
