import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** One SDK 2.x server with the tool `echo {text}`. */
export function echoServer() {
  const server = new McpServer({ name: 'sdk2', version: '2.0.0' }, { instructions: 'Echoes text.' });
  server.registerTool(
    'echo',
    {
      description: 'Gives the text back.',
      inputSchema: z.object({ text: z.string() }),
      annotations: { readOnlyHint: true },
    },
    ({ text }) => ({ content: [{ type: 'text', text }] }),
  );
  return server;
}
