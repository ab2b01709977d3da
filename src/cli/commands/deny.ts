import { aboutHeldCall } from '../ask.daemon.ts';
import type { Command } from '../command.ts';
import { text } from '../options.ts';

export const deny: Command = {
  description: {
    name: 'deny',
    group: 'Tools and calls',
    summary: 'refuse a held call',
    arguments: [{ name: '<id>', about: 'the id of the call, or its beginning' }],
    options: [{ flags: '--reason <text>', about: 'what the caller is told' }],
    examples: [{ line: 'deny c7f2 --reason "use the staging database"', about: 'the caller reads the reason' }],
  },
  async run({ api }, { positional: [given = ''] }, options) {
    const call = await aboutHeldCall(api, given, 'deny', (id) => api.deny(id, text(options, 'reason')));
    return { kind: 'answer', json: call, text: () => `${call.name} is denied.\n`, confirms: true };
  },
};
