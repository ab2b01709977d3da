import { aboutServer, mustKnow } from '../ask.daemon.ts';
import type { Command } from '../command.ts';
import { CommandError, exitCode } from '../failure.ts';
import { flag } from '../options.ts';

export const remove: Command = {
  description: {
    name: 'remove',
    group: 'Servers',
    summary: 'remove a server, its grants and its credentials',
    arguments: [{ name: '<server>', about: 'its name' }],
    options: [{ flags: '--yes', about: 'do not ask' }],
    examples: [{ line: 'remove memory', about: 'asks first on a terminal; "disable" keeps the entry' }],
  },
  async run({ api, ask }, { positional: [name = ''] }, options) {
    if (ask && !flag(options, 'yes')) {
      await mustKnow(api, name, 'remove');
      const answer = await ask({
        text: `Remove ${name}, its grants and its stored credentials?`,
        choices: [
          { key: 'y', label: 'yes' },
          { key: 'n', label: 'no' },
        ],
        otherwise: 'n',
      });
      if (answer !== 'y')
        throw new CommandError('Nothing was removed.', { exit: exitCode.refused, next: [`disable ${name}`] });
    }
    return {
      kind: 'answer',
      json: await aboutServer(api, name, 'remove', () => api.removeServer(name)),
      text: () => `${name} is removed.\n`,
      confirms: true,
    };
  },
};
