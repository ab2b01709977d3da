import type { ClientDescriptor } from '../descriptor.ts';
import { bearer, commandAndArgs, everywhere } from './shapes.ts';

export const cline: ClientDescriptor = {
  id: 'cline',
  name: 'Cline',
  places: {
    ...everywhere({ file: '{home}/.cline/data/settings/cline_mcp_settings.json' }),
    darwin: {
      file: '{home}/.cline/data/settings/cline_mcp_settings.json',
      after: [
        '{home}/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
      ],
    },
    linux: {
      file: '{home}/.cline/data/settings/cline_mcp_settings.json',
      after: ['{config}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json'],
    },
    win32: {
      file: '{home}/.cline/data/settings/cline_mcp_settings.json',
      after: ['{appdata}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json'],
    },
  },
  movedBy: [
    { variable: 'CLINE_MCP_SETTINGS_PATH', file: '{value}' },
    { variable: 'CLINE_DIR', file: '{value}/data/settings/cline_mcp_settings.json' },
  ],
  format: 'json',
  key: 'mcpServers',
  http: { byReference: null, literal: { type: 'streamableHttp', url: '{url}', headers: bearer } },
  stdio: commandAndArgs,
  reference: null,
  fillsIn: [],
  identifier: {
    before: '',
    between: '__',
    server: 'entry',
    serverMax: null,
    counts: 'whole',
    limit: 64,
    allowed: '[a-zA-Z0-9_-]',
    cleans: true,
    effect: 'rewrite',
  },
  toolsCap: null,
  flat: null,
  confirms: true,
  signs: {
    commands: ['cline'],
    folders: ['{home}/.cline', '{config}/Code/User/globalStorage/saoudrizwan.claude-dev'],
  },
  afterwards: 'Cline reads the file by itself.',
  sources: [
    {
      about: 'file and the variables that move it; a missing `type` would mean SSE',
      found: 'storage/paths.ts and docs/mcp/mcp-overview.mdx of cline/cline at 21cb8d2',
      date: 'undated',
    },
    { about: 'the older file inside VS Code', found: 'toolhive, mcpproxy-go', date: 'undated' },
    {
      about: 'changed or over 64: the first 55 characters and a hash',
      found: 'name-transform.ts of cline/cline at 21cb8d2',
      date: 'undated',
    },
  ],
};
