import type { ClientDescriptor } from '../descriptor.ts';
import { commandAndArgs, everywhere } from './shapes.ts';

export const codex: ClientDescriptor = {
  id: 'codex',
  name: 'Codex',
  places: everywhere({ file: '{home}/.codex/config.toml' }),
  movedBy: [{ variable: 'CODEX_HOME', file: '{value}/config.toml' }],
  format: 'toml',
  key: 'mcp_servers',
  http: {
    byReference: { url: '{url}', bearer_token_env_var: '{variable}' },
    literal: { url: '{url}', http_headers: { Authorization: 'Bearer {token}' } },
  },
  stdio: commandAndArgs,
  reference: '{variable}',
  fillsIn: [],
  alsoOurs: ['env_http_headers'],
  identifier: {
    before: 'mcp__',
    between: '__',
    server: 'entry',
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
  signs: { commands: ['codex'], folders: ['{home}/.codex'] },
  afterwards: 'Start a new session of Codex.',
  sources: [
    {
      about: 'file, tables, `bearer_token_env_var`',
      found: 'cartographer, toolhive, mcpproxy-go',
      date: 'undated',
    },
    {
      about: 'other characters become `_`; over 64 a hash takes the place of the end',
      found: 'codex-rs/codex-mcp/src of openai/codex at 05871f8 and 00a35b1',
      date: 'undated',
    },
  ],
};
