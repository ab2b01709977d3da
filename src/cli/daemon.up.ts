/** Makes sure that a daemon runs, for commands that need one and are started by programs or people who do not care. */
import { DaemonUnreachable } from '../api/errors.ts';
import type { Context } from './command.ts';
import { startDetached } from './daemon.detach.ts';

/** How long a daemon that another program is starting may take, in ms. */
export const COMING_MS = 10_000;

/** Several programs may be started at the same moment: whoever loses the race uses the daemon of the winner. Resolves with whether it was started here. */
export async function daemonUp(context: Context): Promise<boolean> {
  const isReady = (): Promise<boolean> =>
    context.api.health().then(
      ({ ready }) => ready,
      () => false,
    );
  try {
    if (await isReady()) return false;
    await context.api.health();
  } catch (error) {
    if (!(error instanceof DaemonUnreachable)) throw error;
    try {
      await startDetached(context, []);
      return true;
    } catch (failure) {
      if (await comes(isReady)) return false;
      throw failure;
    }
  }
  await comes(isReady);
  return false;
}

async function comes(isReady: () => Promise<boolean>): Promise<boolean> {
  for (const until = Date.now() + COMING_MS; Date.now() < until; ) {
    if (await isReady()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}
