/** Ends the daemon of a data directory and waits until it is gone. */
import { type DaemonFile, readDaemonFile } from '../api/endpoint.ts';
import { ApiError, DaemonUnreachable } from '../api/errors.ts';
import type { Context } from './command.ts';
import { CommandError } from './failure.ts';
import { isAlive, isSameProcess } from './process.identity.ts';

/** The daemon gives its servers about ten seconds. */
const patienceMs = 20_000;

/** Asks it to end, or signals it when it does not answer; never signals a process that is not the daemon. */
async function askToEnd({ api }: Context, daemon: DaemonFile): Promise<'api' | 'signal'> {
  try {
    await api.shutdown();
    return 'api';
  } catch (error) {
    if (!(error instanceof DaemonUnreachable) && !(error instanceof ApiError)) throw error;
    if (!isSameProcess(daemon.pid, daemon.startedAt)) throw error;
    process.kill(daemon.pid, 'SIGTERM');
    return 'signal';
  }
}

/** Returns who it was and how it was asked. Throws DaemonUnreachable when none runs. */
export async function takeDown(context: Context): Promise<{ readonly pid: number; readonly by: 'api' | 'signal' }> {
  const daemon = readDaemonFile(context.files.dataDir);
  const by = await askToEnd(context, daemon);
  const until = Date.now() + patienceMs;
  while (isAlive(daemon.pid)) {
    if (Date.now() > until) {
      throw new CommandError(
        `The daemon (pid ${daemon.pid}) was asked to end and still runs after ${patienceMs / 1000} s.`,
        {
          next: ['status', 'down'],
        },
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return { pid: daemon.pid, by };
}
