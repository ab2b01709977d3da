import type { ClientDescriptor } from '../descriptor.ts';
import { bearer, unknownRule } from './shapes.ts';

export const goose: ClientDescriptor = {
  id: 'goose',
  name: 'Goose',
  places: {
    darwin: { file: '{config}/goose/config.yaml' },
    linux: { file: '{config}/goose/config.yaml' },
    win32: { file: '{appdata}/Block/goose/config/config.yaml' },
  },
  movedBy: [],
  format: 'yaml',
  key: 'extensions',
  http: {
    byReference: null,
    literal: {
      enabled: true,
      type: 'streamable_http',
      name: '{entry}',
      description: 'Tools kept by Watchkeeper',
      uri: '{url}',
      headers: bearer,
      timeout: 300,
    },
  },
  stdio: {
    enabled: true,
    type: 'stdio',
    name: '{entry}',
    description: 'Tools kept by Watchkeeper',
    cmd: '{command}',
    args: '{args}',
    timeout: 300,
  },
  reference: null,
  fillsIn: [],
  identifier: { ...unknownRule, between: '__' },
  toolsCap: null,
  flat: null,
  confirms: false,
  signs: { commands: ['goose'], folders: ['{config}/goose', '/Applications/Goose.app'] },
  afterwards: 'Start a new session of Goose.',
  sources: [
    { about: 'file and shape of an extension', found: 'toolhive, mcp-gateway; rulesync issue 1114', date: 'undated' },
    {
      about: 'extension and tool are joined by `__`; no limit was found',
      found: 'aaif-goose/goose issue 8877',
      date: 'undated',
    },
  ],
};
