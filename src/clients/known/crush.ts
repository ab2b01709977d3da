import type { ClientDescriptor } from '../descriptor.ts';
import { everywhere, typedHttp, typedStdio } from './shapes.ts';

export const crush: ClientDescriptor = {
  id: 'crush',
  name: 'Crush',
  places: { ...everywhere({ file: '{config}/crush/crush.json' }), win32: { file: '{home}/.config/crush/crush.json' } },
  movedBy: [{ variable: 'CRUSH_GLOBAL_CONFIG', file: '{value}/crush.json' }],
  format: 'json',
  key: 'mcp',
  http: { byReference: typedHttp, literal: typedHttp },
  stdio: typedStdio,
  reference: '$' + '{variable}',
  fillsIn: ['braces', 'dollar'],
  forbids: '[$`]',
  identifier: {
    before: 'mcp_',
    between: '_',
    server: 'entry',
    serverMax: null,
    counts: 'whole',
    limit: null,
    allowed: null,
    cleans: false,
    effect: 'unknown',
  },
  toolsCap: null,
  flat: null,
  confirms: true,
  signs: { commands: ['crush'], folders: ['{config}/crush'] },
  afterwards: 'Start Crush again.',
  sources: [
    {
      about:
        'file, shape of an entry; `$NAME` is filled in and `$(…)` is run, so no other value may hold a dollar sign',
      found: 'README of charmbracelet/crush at 37f36e9',
      date: 'undated',
    },
    {
      about: 'entry and tool are joined raw; no limit was seen',
      found: 'internal/agent/tools/mcp-tools.go of charmbracelet/crush at 37f36e9',
      date: 'undated',
    },
  ],
};
