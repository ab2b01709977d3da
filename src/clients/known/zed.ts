import type { ClientDescriptor } from '../descriptor.ts';
import { commandAndArgs, urlAndHeaders } from './shapes.ts';

export const zed: ClientDescriptor = {
  id: 'zed',
  name: 'Zed',
  places: {
    darwin: { file: '{home}/.config/zed/settings.json' },
    linux: { file: '{config}/zed/settings.json' },
    win32: { file: '{appdata}/Zed/settings.json', after: ['{home}/.config/zed/settings.json'] },
  },
  movedBy: [],
  format: 'jsonc',
  key: 'context_servers',
  http: { byReference: null, literal: urlAndHeaders },
  stdio: commandAndArgs,
  reference: null,
  fillsIn: [],
  alsoOurs: ['source', 'settings'],
  identifier: {
    before: '',
    between: '',
    server: 'none',
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
  signs: { commands: ['zed', 'zeditor'], folders: ['{config}/zed', '{home}/.config/zed', '/Applications/Zed.app'] },
  afterwards: 'Zed reads the file by itself.',
  sources: [
    { about: 'key, `url` and `headers`, `command` and `args`', found: 'MCP page of zed.dev', date: 'undated' },
    {
      about: 'file; writers disagree about Windows',
      found: 'toolhive, mcp-gateway',
      date: 'undated',
    },
    {
      about: 'a tool keeps its name unless two clash; too long is cut',
      found: 'zed-industries/zed pull requests 30600, 32609, 45789',
      date: 'undated',
    },
  ],
};
