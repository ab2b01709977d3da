/** Starts the daemon where none runs. */
import { DaemonUnreachable } from '../api/errors.ts';
import type { Context } from './command.ts';
import { startDetached } from './daemon.detach.ts';

/** How long a daemon that another program is starting may take, in ms, and one that is restarted. */
export const COMING_MS = 10_000;

/**
 * Resolves when a daemon answers; throws what kept it from starting. Several programs may be started at the same moment:
 * whoever loses the race uses the daemon of the winner.
 */
export async function daemonUp(context: Context): Promise<void> {
  const isReady = (): Promise<boolean> =>
    context.api.health().then(
      ({ ready }) => ready,
      () => false,
    );
  try {
    if (await isReady()) return;
    await context.api.health();
  } catch (error) {
    if (!(error instanceof DaemonUnreachable)) throw error;
    try {
      await startDetached(context, []);
      return;
    } catch (failure) {
      if (await comes(isReady)) return;
      throw failure;
    }
  }
  await comes(isReady);
}

async function comes(isReady: () => Promise<boolean>): Promise<boolean> {
  for (const until = Date.now() + COMING_MS; Date.now() < until; ) {
    if (await isReady()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}
