import type { ClientDescriptor } from '../descriptor.ts';
import { bearer, commandAndArgs, everywhere } from './shapes.ts';

export const geminiCli: ClientDescriptor = {
  id: 'gemini-cli',
  name: 'Gemini CLI',
  places: everywhere({ file: '{home}/.gemini/settings.json' }),
  movedBy: [{ variable: 'GEMINI_CLI_HOME', file: '{value}/.gemini/settings.json' }],
  format: 'jsonc',
  key: 'mcpServers',
  http: {
    byReference: { httpUrl: '{url}', headers: bearer },
    literal: { httpUrl: '{url}', headers: bearer },
  },
  stdio: commandAndArgs,
  reference: `\${{variable}}`,
  fillsIn: ['braces', 'dollar'],
  alsoOurs: ['url'],
  identifier: {
    before: 'mcp_',
    between: '_',
    server: 'entry',
    serverMax: null,
    counts: 'whole',
    limit: 63,
    allowed: '[a-zA-Z0-9_.:-]',
    cleans: true,
    effect: 'rewrite',
  },
  toolsCap: null,
  flat: null,
  confirms: true,
  // Antigravity keeps its own files in `.gemini` too: the folder alone says nothing.
  signs: { commands: ['gemini'], folders: [] },
  afterwards: 'Start a new session of Gemini CLI, in a folder it trusts.',
  sources: [
    {
      about: 'file, key, `httpUrl` for streamable HTTP, variables in texts',
      found: 'docs/tools/mcp-server.md of google-gemini/gemini-cli at 5411f11',
      date: 'undated',
    },
    {
      about: 'longer than 63: the first and last 30 characters with three dots between',
      found: 'packages/core/src/tools/mcp-tool.ts of google-gemini/gemini-cli at 5411f11',
      date: 'undated',
    },
  ],
};
