import type { ClientDescriptor } from '../descriptor.ts';
import { bearer } from './shapes.ts';

export const opencode: ClientDescriptor = {
  id: 'opencode',
  name: 'OpenCode',
  places: {
    darwin: { file: '{config}/opencode/opencode.json', before: ['{config}/opencode/opencode.jsonc'] },
    linux: { file: '{config}/opencode/opencode.json', before: ['{config}/opencode/opencode.jsonc'] },
    win32: {
      file: '{home}/.config/opencode/opencode.json',
      before: ['{home}/.config/opencode/opencode.jsonc'],
      after: ['{localappdata}/opencode/opencode.json', '{appdata}/opencode/opencode.json'],
    },
  },
  movedBy: [{ variable: 'OPENCODE_CONFIG', file: '{value}' }],
  format: 'jsonc',
  key: 'mcp',
  http: {
    byReference: { type: 'remote', url: '{url}', enabled: true, headers: bearer },
    literal: { type: 'remote', url: '{url}', enabled: true, headers: bearer },
  },
  stdio: { type: 'local', command: '{commandLine}', enabled: true },
  reference: '{env:{variable}}',
  fillsIn: ['curly'],
  identifier: {
    before: '',
    between: '_',
    server: 'entry',
    serverMax: null,
    counts: 'whole',
    limit: 64,
    allowed: '[a-zA-Z0-9_-]',
    cleans: true,
    effect: 'reject',
  },
  toolsCap: null,
  flat: null,
  confirms: false,
  signs: { commands: ['opencode'], folders: ['{config}/opencode', '{home}/.opencode'] },
  afterwards: 'Start OpenCode again.',
  sources: [
    {
      about: 'file (a `.jsonc` beside it wins), shape of an entry, `{env:…}`',
      found: 'toolhive, mcp-gateway, mcpproxy-go; docs/config.md of mcporter',
      date: 'undated',
    },
    {
      about: 'cleans both halves and checks no length, so that the model API would refuse names over 64 characters',
      found: 'packages/opencode/src/mcp/index.ts of anomalyco/opencode at 001133b; the refusal is inferred',
      date: 'undated',
    },
  ],
};
