import type { Command } from '../command.ts';
import { flag } from '../options.ts';

export const sync: Command = {
  description: {
    name: 'sync',
    group: 'Clients',
    summary: 'bring the files of connected clients to the servers there are now',
    options: [{ flags: '--dry-run', about: 'only show what would change' }],
    examples: [
      { line: 'sync', about: 'after servers were added, removed or disabled, or the port has changed' },
      { line: 'sync --dry-run', about: 'shows the changes' },
    ],
  },
  run: async (context, _words, options) =>
    (await import('../client.sync.ts')).synced(context, { dryRun: flag(options, 'dryRun') }),
};
