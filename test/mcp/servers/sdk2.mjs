/** A modern server built on SDK 2.x with everything but tools alone: stdio, or HTTP with `http`, which prints its URL. */
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, inputRequired, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
let notifier = null;

function build() {
  const server = new Server(
    { name: 'sdk2', version: '2.0.0' },
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
  const handle = (method, handler) => server.setRequestHandler(method, handler);
  handle('tools/list', () => ({ tools: [{ name: 'ask', inputSchema: { type: 'object' } }] }));
  handle('prompts/list', () => ({ prompts: [{ name: 'p', title: 'P', vendor: 1 }] }));
  handle('resources/list', () => ({ resources: [{ uri: 'demo://1', name: 'one', vendor: 1 }] }));
  handle('prompts/get', ({ params }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: params.arguments?.who ?? 'nobody' } }],
  }));
  handle('resources/read', ({ params }) => ({ contents: [{ uri: params.uri, text: 'content' }] }));
  handle('completion/complete', ({ params }) => ({ completion: { values: [`${params.argument.value}!`] } }));
  handle('tools/call', async ({ params }, ctx) => {
    const { uri } = params.arguments ?? {};
    if (params.name === 'touch') {
      if (notifier === null) await server.sendResourceUpdated({ uri });
      else notifier.resourceUpdated(uri);
      return text(true);
    }
    if (params.name === 'log') {
      await ctx.mcpReq.log('info', 'said');
      return text('logged');
    }
    const answers = ctx.mcpReq.inputResponses;
    if (answers !== undefined) return text(answers);
    return inputRequired({
      inputRequests: {
        who: inputRequired.elicit({
          message: 'Who?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
        }),
      },
      requestState: 'opaque',
    });
  });
  return server;
}

if (process.argv[2] === 'http') {
  const handler = createMcpHandler(build, { legacy: 'reject' });
  notifier = handler.notify;
  const http = createServer(toNodeHandler(handler));
  http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
} else serveStdio(build, { legacy: 'reject' });
