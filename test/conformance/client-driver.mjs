#!/usr/bin/env node
/**
 * The client of the conformance suite's client scenarios: a daemon whose only server is the scenario's, and a client in
 * front of it that lists tools and makes the calls of the scenario. `client-driver.mjs <scenario-url>`.
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

async function main() {
  const home = mkdtempSync(join(tmpdir(), 'wk-driver-'));
  const proxy = UNINTRODUCED.test(scenario) ? await introduced(url) : null;
  const config = join(home, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { subject: { type: 'http', url: proxy?.url ?? url } } }));
  const daemon = spawn(
    process.execPath,
    [cli, 'up', '--json', '--quiet', '--port', '0', '--config', config, '--data', join(home, 'data')],
    { env: { PATH: process.env.PATH, HOME: home }, stdio: ['ignore', 'pipe', 'inherit'] },
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
    await drive(`${ready.url}/mcp/subject`, headers);
  } finally {
    daemon.kill('SIGTERM');
    await new Promise((resolve) => daemon.once('exit', resolve));
    proxy?.server.close();
    proxy?.server.closeAllConnections();
    rmSync(home, { recursive: true, force: true });
  }
}

async function drive(endpoint, headers) {
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
  for (const call of calls) await client.callTool(call);
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
