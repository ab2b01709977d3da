// The same server over Streamable HTTP, one SDK transport a session. Prints its port.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const sessions = new Map();

async function open() {
  const server = new McpServer({ name: 'echo', version: '1' });
  server.registerTool('echo', { inputSchema: { text: z.string().optional() } }, ({ text }) => ({
    content: [{ type: 'text', text: `${process.pid} ${text ?? ''}` }],
  }));
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  await server.connect(transport);
  return transport;
}

const http = createServer(async (request, response) => {
  const id = request.headers['mcp-session-id'];
  const transport = id === undefined ? await open() : sessions.get(id);
  if (!transport) return response.writeHead(404).end();
  await transport.handleRequest(request, response);
});
http.listen(0, '127.0.0.1', () => console.log(http.address().port));
