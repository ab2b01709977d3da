#!/usr/bin/env node
/**
 * The client of the conformance suite's client scenarios: a daemon whose only server is the scenario's, and a client in
 * front of it that lists tools and makes the calls of the scenario; where a login is wanted, also the browser and the
 * person in front of it. `client-driver.mjs <scenario-url>`.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const cli = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const url = process.argv.at(-1);
const {
  MCP_CONFORMANCE_SCENARIO: scenario,
  MCP_CONFORMANCE_PROTOCOL_VERSION: revision = '2025-11-25',
  MCP_CONFORMANCE_CONTEXT: context = '{}',
} = process.env;
const MODERN = '2026-07-28';
const modern = revision === MODERN;

/** The arguments a tool asks for, as plain as they can be. */
function argumentsFor({ inputSchema = {} }) {
  const values = { number: 5, integer: 5, string: 'text', boolean: true, object: {}, array: [] };
  return Object.fromEntries(
    Object.entries(inputSchema.properties ?? {}).map(([name, { type, enum: choices }]) => [
      name,
      choices?.[0] ?? values[type] ?? null,
    ]),
  );
}

/** Of a tool that gives a schema back: the call that shows what became of the other tool's. */
function echoed(tools) {
  const echo = tools.find(({ inputSchema }) => inputSchema.properties?.schema !== undefined);
  const other = tools.find((tool) => tool !== echo);
  return echo && other ? [{ name: echo.name, arguments: { schema: other.inputSchema } }] : undefined;
}

const firstLine = (child) =>
  new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`The daemon ended with ${code}.`)));
  });

/** Some scenarios play a modern server that does not introduce itself; that is answered on the way. */
function introduced(target) {
  const server = createServer(async (incoming, outgoing) => {
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const message = body.length === 0 ? {} : JSON.parse(body.toString());
    if (message.method === 'server/discover') {
      const capabilities = { tools: {}, prompts: {}, resources: {} };
      const result = {
        resultType: 'complete',
        supportedVersions: [MODERN],
        capabilities,
        ttlMs: 0,
        cacheScope: 'private',
      };
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
      return;
    }
    const on = forward(target, {
      method: incoming.method,
      headers: { ...incoming.headers, host: new URL(target).host },
    });
    on.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    on.on('error', () => outgoing.destroy());
    on.end(body);
  });
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve({ server, url: `http://127.0.0.1:${server.address().port}/` })),
  );
}

const UNINTRODUCED = /^(?:sep-2322|http-)/;

const loggingIn = scenario.startsWith('auth/');
const { client_id: clientId, client_secret: clientSecret } = JSON.parse(context);

/** The entry of the scenario's server. */
function entryFor(at) {
  const plain = { type: 'http', url: at };
  if (!loggingIn) return plain;
  const oauth = { clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' };
  return { ...plain, auth: 'oauth', oauth };
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Does what a person does: opens the address, and lets the browser go where it is sent. Resolves with how it ended. */
async function logIn(daemonUrl, headers) {
  const answer = await fetch(`${daemonUrl}/v1/mcp/oauth?name=subject`, { headers });
  let text = '';
  let opened = false;
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (const [, data] of text.matchAll(/^data: (.*)$/gm)) {
      const frame = JSON.parse(data);
      if (frame.done) return frame;
      if (frame.url && !opened) {
        opened = true;
        const page = await fetch(frame.url, { redirect: 'manual' });
        const location = page.headers.get('location');
        if (location === null) throw new Error(`The authorization page sent nobody back (${page.status}).`);
        void fetch(location).catch(() => {});
      }
    }
  }
  throw new Error('The login broke off.');
}

/** Logs in when the server waits for that, and once more where it has moved to other people to log in with. */
async function logInIfWanted(daemonUrl, headers) {
  for (let times = 0; times < 2; times += 1) {
    const { servers } = await (await fetch(`${daemonUrl}/v1/mcp/status`, { headers })).json();
    if (servers[0].state !== 'auth-required') return;
    const end = await logIn(daemonUrl, headers);
    if (!end.ok) throw new Error(end.error);
  }
}

async function main() {
  const home = mkdtempSync(join(tmpdir(), 'wk-driver-'));
  const proxy = UNINTRODUCED.test(scenario) ? await introduced(url) : null;
  const config = join(home, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { subject: entryFor(proxy?.url ?? url) } }));
  const daemon = spawn(
    process.execPath,
    [cli, 'up', '--json', '--quiet', '--port', '0', '--config', config, '--data', join(home, 'data')],
    { env: await environment(home), stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    const ready = JSON.parse(await firstLine(daemon));
    const token = readFileSync(join(home, 'data/token'), 'utf8').trim();
    const headers = { authorization: `Bearer ${token}`, 'watchkeeper-permission-mode': 'allow-all' };
    await fetch(`${ready.url}/v1/mcp/reconnect`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ timeout_ms: 10_000 }),
    });
    if (loggingIn) {
      await giveClient(ready.url, headers);
      await logInIfWanted(ready.url, headers);
    }
    await drive(`${ready.url}/mcp/subject`, headers, ready.url);
  } finally {
    daemon.kill('SIGTERM');
    await new Promise((resolve) => daemon.once('exit', resolve));
    proxy?.server.close();
    proxy?.server.closeAllConnections();
    rmSync(home, { recursive: true, force: true });
  }
}

async function environment(home) {
  const env = { PATH: process.env.PATH, HOME: home };
  if (!loggingIn) return env;
  const port = String(await freePort());
  return { ...env, WATCHKEEPER_OAUTH_CALLBACK_PORT: port, WATCHKEEPER_OAUTH_STORE: 'file' };
}

async function giveClient(daemonUrl, headers) {
  if (clientId === undefined || scenario !== 'auth/pre-registration') return;
  await fetch(`${daemonUrl}/v1/mcp/oauth/client`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'subject', client_id: clientId, client_secret: clientSecret }),
  });
}

/** One call; where it wants more than the login allows, one more login, and the call once more. */
async function callTool(client, call, daemonUrl, headers) {
  const result = await client.callTool(call);
  if (!loggingIn || !result.isError || !/watchkeeper login/.test(JSON.stringify(result.content))) return;
  const end = await logIn(daemonUrl, headers);
  if (!end.ok) throw new Error(end.error);
  await client.callTool(call);
}

async function drive(endpoint, headers, daemonUrl) {
  const client = new Client(
    { name: 'driver', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} },
      versionNegotiation: { mode: modern ? { pin: MODERN } : 'legacy' },
    },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
  client.setRequestHandler('sampling/createMessage', () => ({
    model: 'none',
    role: 'assistant',
    content: { type: 'text', text: 'ok' },
  }));
  client.setRequestHandler('roots/list', () => ({ roots: [] }));
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint), { requestInit: { headers } }));
  const { tools } = await client.listTools();
  const { toolCalls } = JSON.parse(context);
  const calls = toolCalls ?? echoed(tools) ?? tools.map((tool) => ({ name: tool.name, arguments: argumentsFor(tool) }));
  for (const call of calls) await callTool(client, call, daemonUrl, headers);
  if (scenario === 'http-standard-headers') await readAndPrompt(client);
  await client.close();
}

async function readAndPrompt(client) {
  const { resources } = await client.listResources();
  for (const { uri } of resources) await client.readResource({ uri });
  const { prompts } = await client.listPrompts();
  for (const { name } of prompts) await client.getPrompt({ name });
}

await main();
