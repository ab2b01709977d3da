import type { ClientDescriptor } from '../descriptor.ts';
import { commandAndArgs, everywhere, urlAndHeaders } from './shapes.ts';

export const kiro: ClientDescriptor = {
  id: 'kiro',
  name: 'Kiro',
  places: everywhere({ file: '{home}/.kiro/settings/mcp.json' }),
  movedBy: [],
  format: 'json',
  key: 'mcpServers',
  http: { byReference: null, literal: urlAndHeaders },
  stdio: commandAndArgs,
  reference: null,
  fillsIn: ['braces'],
  alsoOurs: ['type'],
  identifier: {
    before: '',
    between: '',
    server: 'none',
    serverMax: null,
    counts: 'whole',
    limit: 64,
    allowed: '[a-zA-Z0-9_-]',
    cleans: false,
    effect: 'drop',
  },
  toolsCap: null,
  flat: { where: 'Kiro CLI', command: 'kiro-cli', otherwise: ['kiro'] },
  confirms: true,
  signs: { commands: ['kiro', 'kiro-cli'], folders: ['{home}/.kiro', '/Applications/Kiro.app'] },
  afterwards: 'Kiro reads the file by itself; Kiro CLI needs a new session.',
  sources: [
    {
      about: 'file, shape of an entry, headers',
      found: 'configuration pages of kiro.dev; toolhive, mcpproxy-go',
      date: 'undated',
    },
    {
      about: 'fills in only variables that the user approved, so the token is written out',
      found: 'kiro.dev, approved environment variables; CLI 2.4.0',
      date: 'undated',
    },
    {
      about:
        'the CLI shows tools by their own names and leaves out those over 64 characters; the IDE puts the entry in front',
      found: 'kirodotdev/Kiro issue 7656; tool_manager.rs of aws/amazon-q-developer-cli at 15cc8f3, from which it came',
      date: 'undated',
    },
  ],
};
