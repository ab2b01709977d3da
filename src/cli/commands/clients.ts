import type { Command } from '../command.ts';
import { flag } from '../options.ts';

export const clients: Command = {
  description: {
    name: 'clients',
    group: 'Clients',
    summary: 'show which AI clients are installed, connected, and in what state',
    options: [{ flags: '--all', about: 'also those that are not installed' }],
    examples: [
      { line: 'clients', about: 'installed and connected ones' },
      { line: 'clients --json', about: 'with findings and warnings, for scripts' },
    ],
  },
  run: async (context, _words, options) => (await import('../client.list.ts')).listed(context, flag(options, 'all')),
};
