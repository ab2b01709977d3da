import type { ClientDescriptor } from '../descriptor.ts';
import { typedHttp, typedStdio } from './shapes.ts';

export const vscode: ClientDescriptor = {
  id: 'vscode',
  name: 'VS Code',
  places: {
    darwin: { file: '{home}/Library/Application Support/Code/User/mcp.json' },
    linux: { file: '{config}/Code/User/mcp.json' },
    win32: { file: '{appdata}/Code/User/mcp.json' },
  },
  movedBy: [],
  format: 'jsonc',
  key: 'servers',
  http: { byReference: typedHttp, literal: typedHttp },
  stdio: typedStdio,
  reference: `\${env:{variable}}`,
  fillsIn: ['colon'],
  identifier: {
    before: 'mcp_',
    between: '_',
    server: 'entry',
    serverMax: 13,
    counts: 'whole',
    limit: 64,
    allowed: '[a-z0-9_.-]',
    cleans: true,
    effect: 'rewrite',
  },
  toolsCap: 128,
  flat: null,
  confirms: true,
  signs: {
    commands: ['code'],
    folders: [
      '{home}/Library/Application Support/Code',
      '{config}/Code',
      '{appdata}/Code',
      '/Applications/Visual Studio Code.app',
    ],
  },
  afterwards: 'VS Code offers to start the servers when it sees the file change.',
  sources: [
    {
      about: 'file, key, shape of an entry',
      found: 'toolhive, mcp-gateway and mcpproxy-go; MCP configuration reference of VS Code',
      date: 'undated',
    },
    {
      about: `variables are filled in as \`\${env:…}\``,
      found: 'release notes 4.2.0 of ravitemer/mcp-hub, which follows the format',
      date: '2025-07',
    },
    {
      about: 'the label is cut to 13 characters and the whole to 64; newer builds take the announced name as the label',
      found: 'mcpTypes.ts and mcpService.ts of microsoft/vscode at 006c4ca',
      date: 'undated',
    },
    {
      about: 'at most 128 tools a request',
      found: 'microsoft/vscode-copilot-release issues 9375 and 11653',
      date: 'undated',
    },
  ],
};
