import type { ClientDescriptor } from '../descriptor.ts';
import { bearer, everywhere } from './shapes.ts';

export const copilotCli: ClientDescriptor = {
  id: 'copilot-cli',
  name: 'GitHub Copilot CLI',
  places: everywhere({ file: '{home}/.copilot/mcp-config.json' }),
  movedBy: [{ variable: 'COPILOT_HOME', file: '{value}/mcp-config.json' }],
  format: 'json',
  key: 'mcpServers',
  http: {
    byReference: { type: 'http', url: '{url}', headers: bearer, tools: ['*'] },
    literal: { type: 'http', url: '{url}', headers: bearer, tools: ['*'] },
  },
  stdio: { type: 'local', command: '{command}', args: '{args}', tools: ['*'] },
  reference: `\${{variable}}`,
  fillsIn: ['braces', 'dollar'],
  identifier: {
    before: '',
    between: '-',
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
  signs: { commands: ['copilot'], folders: ['{home}/.copilot'] },
  afterwards: 'Start a new session of Copilot CLI.',
  sources: [
    { about: 'file and shape of an entry', found: 'toolhive; guides for the format', date: 'undated' },
    {
      about: `\`\${…}\` is filled in at run time; \`tools\` is wanted`,
      found: 'microsoft/apm issue 1152; change log 0.0.340 of github/copilot-cli',
      date: 'undated',
    },
    {
      about: 'entry and tool go raw to the model API, which refuses names over 64 (Bedrock) or 128 characters',
      found: 'microsoft/mcp issue 842; github/copilot-cli issues 1879 and 2581',
      date: 'undated',
    },
  ],
};
