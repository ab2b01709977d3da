// A server as most people write them: the SDK's own classes over stdio.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'echo', version: '1' });
server.registerTool('echo', { inputSchema: { text: z.string().optional() } }, ({ text }) => ({
  content: [{ type: 'text', text: `${process.pid} ${text ?? ''}` }],
}));
await server.connect(new StdioServerTransport());
