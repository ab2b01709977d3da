import type { ClientDescriptor } from '../descriptor.ts';
import { commandAndArgs, everywhere, urlAndHeaders } from './shapes.ts';

export const cursor: ClientDescriptor = {
  id: 'cursor',
  name: 'Cursor',
  places: everywhere({ file: '{home}/.cursor/mcp.json' }),
  movedBy: [],
  format: 'json',
  key: 'mcpServers',
  http: { byReference: urlAndHeaders, literal: urlAndHeaders },
  stdio: commandAndArgs,
  reference: `\${env:{variable}}`,
  fillsIn: ['colon'],
  identifier: {
    before: '',
    between: '',
    server: 'entry',
    serverMax: null,
    counts: 'names',
    limit: 59,
    allowed: null,
    cleans: false,
    effect: 'drop',
  },
  toolsCap: 80,
  flat: null,
  confirms: true,
  signs: { commands: ['cursor', 'cursor-agent'], folders: ['{home}/.cursor', '/Applications/Cursor.app'] },
  afterwards: 'Cursor reads the file by itself; see its settings, MCP.',
  sources: [
    {
      about: `file, key, shape of an entry, \`\${env:…}\` in it`,
      found: 'toolhive, mcp-gateway and mcpproxy-go; guides of server vendors',
      date: 'undated',
    },
    {
      about: 'entry and tool together must stay below 60 characters; the exact string shown to the model is not known',
      found: 'ComposioHQ/composio issue 2788, PostHog/posthog pull request 51483, awslabs/mcp issue 1283',
      date: 'undated',
    },
    {
      about: 'at most 80 tools (40 until the summer of 2025)',
      found: 'Snowflake-Labs/mcp issue 77, bun913/mcp-testrail issue 6',
      date: '2025-09',
    },
  ],
};
