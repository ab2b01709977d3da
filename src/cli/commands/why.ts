import { aboutServer, unlessNoDaemon } from '../ask.daemon.ts';
import type { Command } from '../command.ts';
import { NO_DAEMON } from '../offline.log.ts';
import { offlineWhy } from '../offline.why.ts';
import { atOf, moment } from '../options.ts';
import { whyText } from '../why.text.ts';

export const why: Command = {
  description: {
    name: 'why',
    group: 'Log',
    summary: 'tell why a server is, or was, as it is',
    arguments: [{ name: '<server>', about: 'its name' }],
    options: [{ flags: '--at <T>', about: 'as it was then: a time, a log position or a span such as 2h' }],
    examples: [
      { line: 'why github', about: 'what led to its state, what changed before, and what to do' },
      { line: 'why github --at 14:30', about: 'the same for an earlier moment' },
    ],
  },
  async run({ api, files, now }, { positional: [name = ''] }, options) {
    const at = moment(options, 'at', now());
    let offline = false;
    const found = await unlessNoDaemon(
      api,
      () => aboutServer(api, name, 'why', () => api.why({ name, at: atOf(at) })),
      (unreachable) => {
        offline = true;
        return offlineWhy(files.databaseFile, { name, at, now: now() }, unreachable);
      },
    );
    return {
      kind: 'answer',
      json: found,
      text: (view) => whyText(found, view),
      notes: offline ? [NO_DAEMON] : [],
    };
  },
};
