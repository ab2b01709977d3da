import type { Command } from '../command.ts';
import { flag } from '../options.ts';

export const disconnect: Command = {
  description: {
    name: 'disconnect',
    group: 'Clients',
    summary: 'take our entries out of the configuration of a client, and end its token',
    arguments: [{ name: '<client>', about: 'a client that is connected' }],
    options: [{ flags: '--dry-run', about: 'only show what would change' }],
    examples: [
      { line: 'disconnect claude-code', about: 'the file is as it was before, byte for byte, if nobody changed it' },
    ],
  },
  run: async (context, { positional: [word = ''] }, options) =>
    (await import('../client.disconnect.ts')).disconnected(context, word, { dryRun: flag(options, 'dryRun') }),
};
