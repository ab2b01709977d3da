import type { ClientDescriptor } from '../descriptor.ts';
import { bearer, commandAndArgs, everywhere, unknownRule } from './shapes.ts';

export const windsurf: ClientDescriptor = {
  id: 'windsurf',
  name: 'Windsurf',
  places: everywhere({ file: '{home}/.codeium/windsurf/mcp_config.json', after: ['{home}/.codeium/mcp_config.json'] }),
  movedBy: [],
  format: 'json',
  key: 'mcpServers',
  http: {
    byReference: { serverUrl: '{url}', headers: bearer },
    literal: { serverUrl: '{url}', headers: bearer },
  },
  stdio: commandAndArgs,
  reference: `\${env:{variable}}`,
  fillsIn: ['colon'],
  alsoOurs: ['url'],
  identifier: unknownRule,
  toolsCap: 100,
  flat: null,
  confirms: true,
  signs: { commands: ['windsurf'], folders: ['{home}/.codeium/windsurf', '/Applications/Windsurf.app'] },
  afterwards: 'Press refresh in the MCP panel of Windsurf.',
  sources: [
    { about: 'file and shape of an entry', found: 'toolhive, mcpproxy-go, Cascade documentation', date: 'undated' },
    { about: `\`\${env:…}\` is filled in`, found: 'description of the format at syllago.dev', date: 'undated' },
    {
      about: 'at most 100 tools (50 in the spring of 2025)',
      found: 'Cascade documentation; Zhwt/go-mcp-mysql issue 3',
      date: 'undated',
    },
    { about: 'how it names tools is not known', found: 'nowhere', date: 'undated' },
  ],
};
