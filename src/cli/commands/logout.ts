import { aboutServer } from '../ask.daemon.ts';
import type { Command } from '../command.ts';
import { flag } from '../options.ts';

export const logout: Command = {
  description: {
    name: 'logout',
    group: 'Servers',
    summary: 'delete what is kept of a login',
    arguments: [{ name: '<server>', about: 'its name' }],
    options: [{ flags: '--client', about: 'forget a client you gave, too' }],
    examples: [{ line: 'logout github', about: 'the server has no token from this moment on' }],
  },
  async run({ api }, { positional: [name = ''] }, options) {
    const client = flag(options, 'client');
    return {
      kind: 'answer',
      json: await aboutServer(api, name, 'logout', () => api.logOut(name, { client })),
      text: () => `Logged out of ${name}.\n`,
      confirms: true,
    };
  },
};
