import type { ClientDescriptor } from '../descriptor.ts';
import { commandAndArgs, everywhere, unknownRule, urlAndHeaders } from './shapes.ts';

export const lmStudio: ClientDescriptor = {
  id: 'lm-studio',
  name: 'LM Studio',
  places: everywhere({ file: '{home}/.lmstudio/mcp.json', after: ['{home}/.cache/lm-studio/mcp.json'] }),
  movedBy: [],
  format: 'json',
  key: 'mcpServers',
  http: { byReference: null, literal: urlAndHeaders },
  stdio: commandAndArgs,
  reference: null,
  fillsIn: [],
  identifier: unknownRule,
  toolsCap: null,
  flat: null,
  confirms: true,
  signs: { commands: ['lms'], folders: ['{home}/.lmstudio', '/Applications/LM Studio.app'] },
  afterwards: 'LM Studio reads the file by itself.',
  sources: [
    { about: 'file and shape of an entry', found: 'toolhive, mcp-gateway', date: 'undated' },
    { about: 'how it names tools is not known', found: 'nowhere', date: 'undated' },
  ],
};
