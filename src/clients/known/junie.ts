import type { ClientDescriptor } from '../descriptor.ts';
import { commandAndArgs, everywhere, unknownRule } from './shapes.ts';

export const junie: ClientDescriptor = {
  id: 'junie',
  name: 'JetBrains Junie',
  places: everywhere({ file: '{home}/.junie/mcp/mcp.json' }),
  movedBy: [],
  format: 'json',
  key: 'mcpServers',
  http: null,
  stdio: commandAndArgs,
  reference: null,
  fillsIn: [],
  identifier: unknownRule,
  toolsCap: null,
  flat: null,
  confirms: true,
  signs: { commands: ['junie'], folders: ['{home}/.junie'] },
  afterwards: 'Switch the server on in the settings of Junie.',
  sources: [
    {
      about: 'file; that it takes commands only',
      found: 'Junie page of jetbrains.com and of vaadin.com',
      date: 'undated',
    },
    { about: 'how it names tools is not known', found: 'nowhere', date: 'undated' },
  ],
};
