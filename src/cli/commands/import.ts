import type { Command } from '../command.ts';
import { flag } from '../options.ts';

export const importServers: Command = {
  description: {
    name: 'import',
    group: 'Clients',
    summary: 'take servers from the configuration of AI clients or other hubs into mcp.json',
    arguments: [
      {
        name: '[client]',
        about: 'a client, or a file of mcp-hub, MetaMCP (its export), mcpo…; all installed clients otherwise',
      },
    ],
    options: [
      { flags: '--dry-run', about: 'only show what would be taken' },
      { flags: '--env-secrets', about: `put what looks secret into watchkeeper.env, and \${NAME} in its place` },
      { flags: '--replace', about: 'connect the client, our entries in the place of its own' },
      { flags: '--yes', about: 'do not ask' },
    ],
    examples: [
      { line: 'import --dry-run', about: 'what all installed clients have' },
      { line: 'import claude-desktop --env-secrets', about: 'one client, its secrets kept out of mcp.json' },
      { line: 'import ./mcpo.json', about: 'a file of another hub' },
    ],
  },
  run: async (context, { positional: [from] }, options) =>
    (await import('../client.import.ts')).imported(context, from, {
      dryRun: flag(options, 'dryRun'),
      apart: flag(options, 'envSecrets'),
      replace: flag(options, 'replace'),
      yes: flag(options, 'yes'),
    }),
};
