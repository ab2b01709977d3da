import type { ClientDescriptor } from '../descriptor.ts';
import { commandAndArgs } from './shapes.ts';

export const claudeDesktop: ClientDescriptor = {
  id: 'claude-desktop',
  name: 'Claude Desktop',
  places: {
    darwin: { file: '{home}/Library/Application Support/Claude/claude_desktop_config.json' },
    linux: {
      file: '{config}/Claude/claude_desktop_config.json',
      after: ['{config}/claude/claude_desktop_config.json'],
    },
    win32: { file: '{appdata}/Claude/claude_desktop_config.json' },
  },
  movedBy: [],
  format: 'json',
  key: 'mcpServers',
  http: null,
  stdio: commandAndArgs,
  reference: null,
  fillsIn: [],
  identifier: {
    before: '',
    between: '',
    server: 'none',
    serverMax: null,
    counts: 'whole',
    limit: 64,
    allowed: '[a-zA-Z0-9_-]',
    cleans: false,
    effect: 'reject',
  },
  toolsCap: null,
  flat: null,
  confirms: true,
  signs: {
    commands: [],
    folders: [
      '{home}/Library/Application Support/Claude',
      '{config}/Claude',
      '{appdata}/Claude',
      '/Applications/Claude.app',
    ],
  },
  afterwards: 'Quit Claude Desktop and start it again.',
  sources: [
    {
      about: 'file on macOS and Windows; that this file takes commands only',
      found: 'build-server guide of the MCP documentation; mcpproxy-go',
      date: '2024-11',
    },
    {
      about: 'file on Linux: writers disagree on the case of the folder',
      found: 'mcpproxy-go, mcporter and mcp-gateway',
      date: 'undated',
    },
    {
      about:
        'names over 64 characters are refused; what stands in front of a tool is not known, so only the tool is counted',
      found: 'error text in API-200/api200 issue 14',
      date: 'undated',
    },
  ],
};
