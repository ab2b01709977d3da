import { existsSync } from 'node:fs';
import type { Rebuilt } from '../../api/client.ts';
import type { DaemonUnreachable } from '../../api/errors.ts';
import { unlessNoDaemon } from '../ask.daemon.ts';
import type { Answer, Command, Context } from '../command.ts';
import { exactDuration } from '../duration.ts';

const answer = (done: Rebuilt): Answer => ({
  kind: 'answer',
  json: done,
  text: () => `Made anew from ${done.facts} facts in ${exactDuration(done.tookMs)}.\n`,
  confirms: true,
});

async function offline({ files }: Context, why: DaemonUnreachable): Promise<Answer> {
  if (!existsSync(files.databaseFile)) throw why;
  const { rebuildOffline } = await import('../offline.rebuild.ts');
  return answer(await rebuildOffline(files));
}

export const rebuild: Command = {
  description: {
    name: 'rebuild',
    group: 'Log',
    summary: 'make all views anew from the log',
    examples: [{ line: 'rebuild', about: 'loses nothing: the log is what counts, views are taken from it' }],
  },
  run: (context) =>
    unlessNoDaemon(
      context.api,
      async () => answer(await context.api.rebuild()),
      (why) => offline(context, why),
    ),
};
