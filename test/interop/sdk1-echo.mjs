import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

/** One SDK 1.x server with the tool `echo {text}`. */
export function echoServer() {
  const server = new McpServer({ name: 'sdk1', version: '1.0.0' }, { instructions: 'Echoes text.' });
  server.registerTool(
    'echo',
    { description: 'Gives the text back.', inputSchema: { text: z.string() }, annotations: { readOnlyHint: true } },
    ({ text }) => ({ content: [{ type: 'text', text }] }),
  );
  return server;
}
