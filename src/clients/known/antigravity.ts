import type { ClientDescriptor } from '../descriptor.ts';
import { bearer, commandAndArgs, everywhere } from './shapes.ts';

export const antigravity: ClientDescriptor = {
  id: 'antigravity',
  name: 'Antigravity',
  places: everywhere({
    file: '{home}/.gemini/config/mcp_config.json',
    after: ['{home}/.gemini/antigravity/mcp_config.json', '{home}/.gemini/antigravity-cli/mcp_config.json'],
  }),
  movedBy: [],
  format: 'jsonc',
  key: 'mcpServers',
  http: {
    byReference: { serverUrl: '{url}', headers: bearer },
    literal: { serverUrl: '{url}', headers: bearer },
  },
  stdio: commandAndArgs,
  reference: `\${{variable}}`,
  fillsIn: ['braces'],
  alsoOurs: ['url'],
  identifier: {
    before: 'mcp_',
    between: '_',
    server: 'entry',
    serverMax: null,
    counts: 'whole',
    limit: 64,
    allowed: '[a-zA-Z0-9_-]',
    cleans: false,
    effect: 'drop',
  },
  toolsCap: 100,
  flat: null,
  confirms: true,
  signs: {
    commands: ['agy', 'antigravity'],
    folders: [
      '{home}/.gemini/antigravity',
      '{home}/.gemini/antigravity-cli',
      '{home}/.gemini/config',
      '/Applications/Antigravity.app',
    ],
  },
  afterwards: 'Press refresh in the MCP panel of Antigravity.',
  sources: [
    {
      about: 'three files are in use, and which of them counts is not settled: one that exists is taken',
      found: 'cartographer, toolhive, chrome-devtools-mcp pull request 580, agent-config 0.2.0',
      date: 'undated',
    },
    {
      about: '`serverUrl`, headers, variables',
      found: 'cartographer; coulsontl/ai-toolbox issue 195',
      date: 'undated',
    },
    {
      about:
        'identifiers that do not match `^[a-zA-Z0-9_-]{1,64}$` are left out without a word; the entry is not cleaned',
      found: 'cartographer decision D201; microsoft/mcp issue 2966; DitriXNew/EDT-MCP issue 80',
      date: 'undated',
    },
    {
      about: 'at most 100 tools (50 in one report of May 2026)',
      found:
        'DaxianLee/cocos-mcp-server issue 11, youichi-uda/unity-mcp-pro-plugin issue 1, enuno/unifi-mcp-server issue 69',
      date: '2026-03',
    },
  ],
};
