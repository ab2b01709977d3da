import type { ClientDescriptor } from '../descriptor.ts';
import { everywhere, typedHttp, typedStdio } from './shapes.ts';

export const claudeCode: ClientDescriptor = {
  id: 'claude-code',
  name: 'Claude Code',
  places: everywhere({ file: '{home}/.claude.json' }),
  movedBy: [{ variable: 'CLAUDE_CONFIG_DIR', file: '{value}/.claude.json' }],
  format: 'json',
  key: 'mcpServers',
  http: { byReference: typedHttp, literal: typedHttp },
  stdio: typedStdio,
  reference: `\${{variable}}`,
  fillsIn: ['braces'],
  identifier: {
    before: 'mcp__',
    between: '__',
    server: 'entry',
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
  signs: { commands: ['claude'], folders: ['{home}/.claude'] },
  afterwards: 'Start a new session of Claude Code, or type /mcp in a running one.',
  sources: [
    {
      about: 'file, key, shape of an entry, variables in it',
      found: 'configuration writers of toolhive, mcp-gateway and mcpproxy-go agree',
      date: 'undated',
    },
    {
      about: 'identifier; the model API refuses names over 64 characters and with it the session',
      found: 'anthropics/claude-code issues 2485, 2326, 20643; error texts also show 128, so 64 is the safe side',
      date: '2026-01',
    },
  ],
};
