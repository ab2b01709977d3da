/** A legacy-era Streamable HTTP server with sessions, built on SDK 1.x. Prints its URL; `PORT` sets the port. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { echoServer } from './sdk1-echo.mjs';

const sessions = new Map();

async function openSession() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => sessions.delete(id),
  });
  await echoServer().connect(transport);
  return transport;
}

const http = createServer(async (request, response) => {
  const id = request.headers['mcp-session-id'];
  const known = id === undefined ? await openSession() : sessions.get(id);
  if (known === undefined) {
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
    return;
  }
  await known.handleRequest(request, response);
});

http.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${http.address().port}/mcp`);
});
