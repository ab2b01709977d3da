/** A legacy server built on SDK 1.x with everything but tools alone: stdio, or Streamable HTTP with `http`, which prints its URL. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const anything = z.looseObject({});
const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

function build() {
  const server = new Server(
    { name: 'sdk1', version: '1.0.0' },
    {
      capabilities: {
        tools: {},
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        completions: {},
        logging: {},
      },
    },
  );
  const handle = (schema, handler) => server.setRequestHandler(schema, handler);
  const subscribed = new Set();
  handle(ListToolsRequestSchema, () => ({ tools: [{ name: 'ask', inputSchema: { type: 'object' } }] }));
  handle(ListPromptsRequestSchema, () => ({ prompts: [{ name: 'p', title: 'P', vendor: 1 }] }));
  handle(ListResourcesRequestSchema, () => ({ resources: [{ uri: 'demo://1', name: 'one', vendor: 1 }] }));
  handle(GetPromptRequestSchema, ({ params }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: params.arguments?.who ?? 'nobody' } }],
  }));
  handle(ReadResourceRequestSchema, ({ params }) => ({ contents: [{ uri: params.uri, text: 'content' }] }));
  handle(CompleteRequestSchema, ({ params }) => ({ completion: { values: [`${params.argument.value}!`] } }));
  handle(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  handle(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  handle(CallToolRequestSchema, async ({ params }, extra) => {
    const { method, params: more = {}, uri } = params.arguments ?? {};
    if (params.name === 'touch') {
      if (subscribed.has(uri)) await server.sendResourceUpdated({ uri });
      return text(subscribed.has(uri));
    }
    if (params.name === 'log') {
      await server.sendLoggingMessage({ level: 'info', data: 'said' });
      return text('logged');
    }
    return text(await extra.sendRequest({ method, params: more }, anything));
  });
  return server;
}

async function serveHttp() {
  const sessions = new Map();
  const open = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await build().connect(transport);
    return transport;
  };
  const http = createServer(async (request, response) => {
    const id = request.headers['mcp-session-id'];
    const known = id === undefined ? await open() : sessions.get(id);
    if (known === undefined) response.writeHead(404).end();
    else await known.handleRequest(request, response);
  });
  http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
}

if (process.argv[2] === 'http') await serveHttp();
else await build().connect(new StdioServerTransport());
