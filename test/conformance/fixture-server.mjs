#!/usr/bin/env node
/**
 * The server of the conformance runs: `--stdio`, or HTTP on a free port (its URL is printed). `--era dual|legacy|modern`
 * says which clients it serves; dual by default.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { fixtureServer, sharedState } from './fixture.mjs';

const flag = process.argv.indexOf('--era');
const era = flag < 0 ? 'dual' : process.argv[flag + 1];
const state = sharedState();

const tell = (server, list) => {
  const sent = list === 'tools' ? server.sendToolListChanged() : server.sendPromptListChanged();
  Promise.resolve(sent).catch(() => {});
};

if (process.argv.includes('--stdio')) await serveOnPipes();
else serveHttp();

async function serveOnPipes() {
  const open = new Set();
  state.onChange = (list) => {
    for (const server of open) tell(server, list);
  };
  const make = () => {
    const server = fixtureServer(state);
    open.add(server);
    return server;
  };
  if (era === 'legacy') await make().connect(new StdioServerTransport());
  else serveStdio(make, { legacy: era === 'modern' ? 'reject' : 'serve' });
}

function serveHttp() {
  const modern = createMcpHandler(() => fixtureServer(state), { legacy: 'reject' });
  const handleModern = toNodeHandler(modern);
  const sessions = new Map();
  state.onChange = (list) => {
    if (list === 'tools') modern.notify.toolsChanged();
    else modern.notify.promptsChanged();
    for (const { server } of sessions.values()) tell(server, list);
  };

  const handleLegacy = async (request, response, body) => {
    const id = request.headers['mcp-session-id'];
    if (id !== undefined) {
      const known = sessions.get(id);
      if (known === undefined) return response.writeHead(404).end();
      return known.transport.handleRequest(request, response, body);
    }
    const server = fixtureServer(state);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void sessions.set(session, { server, transport }),
      onsessionclosed: (session) => void sessions.delete(session),
    });
    await server.connect(transport);
    return transport.handleRequest(request, response, body);
  };

  const http = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const body = text === '' ? undefined : JSON.parse(text);
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const asked = new Request(`http://localhost${request.url}`, {
      method: request.method,
      headers,
      ...(text === '' ? {} : { body: text }),
    });
    const legacy = era === 'legacy' || (era === 'dual' && (await isLegacyRequest(asked, body)));
    if (legacy) await handleLegacy(request, response, body);
    else await handleModern(request, response, body);
  });
  http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
}
