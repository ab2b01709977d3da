/** What to do next, where there is something to do. Pure. */
import type { Failure } from '../events/shapes.ts';
import { isFailure } from './trouble.ts';
import type { About } from './why.ts';

export interface Next {
  /** For a person. */
  readonly text: string;
  /** A whole command line. */
  readonly command: string;
}

/** Null when time alone helps, or all is well. */
export function nextThing({ evidence, story, state, losses }: About): Next | null {
  const { server, dead, later } = evidence;
  const command = (words: string): string => `watchkeeper ${words}`;
  const advice = (text: string, words: string): Next => ({ text, command: command(words) });
  if (dead)
    return dead.position === null
      ? advice('Start the daemon.', 'up --detach')
      : advice('See how it went on.', `why ${server} --at ${dead.position}`);
  // It is over: what would have helped then helps nobody now.
  if (later) return advice('See what came next.', `why ${server} --at ${later.position}`);
  const failure = story.findLast(isFailure)?.data.failure;
  switch (state) {
    case 'ready': {
      const trouble = story.findLast(({ type }) => type === 'ListFailed' || type === 'ToolsListed');
      if (trouble?.type === 'ListFailed') return advice('If it stays so, connect anew.', `reconnect ${server}`);
      return losses.today > 1 ? advice('See when it was lost.', `history ${server} --from today`) : null;
    }
    case 'disabled':
      return advice('Let it run.', `enable ${server}`);
    case 'idle':
      return evidence.lazy || story.some(({ data }) => 'reason' in data && data.reason === 'idle')
        ? advice('Start it now instead of at its next use.', `reconnect ${server}`)
        : null;
    case 'auth-required':
      // The wire says so where the entry is one to log in to.
      if (failure?.message.includes(`; log in: watchkeeper login ${server}`))
        return advice('Log in; the server is connected as soon as you have.', `login ${server}`);
      return advice(
        'Give it a valid token in `headers` (or in the variable they name), then try again.',
        `reconnect ${server}`,
      );
    case 'failed':
      return failure?.class === 'config'
        ? advice(`Correct what is wrong with the entry; it is tried again when the file is saved.`, 'config check')
        : advice('Install the command or correct the entry, then try again.', `reconnect ${server}`);
    case 'backing-off':
      return failure ? backOffAdvice(failure, advice, server) : null;
    case 'stopped': {
      const rested = story.findLast(({ type }) => type === 'ServerStopped');
      const reason = rested?.type === 'ServerStopped' ? rested.data.reason : null;
      if (reason === 'daemon-stopping' || reason === 'daemon-ended') return advice('Start the daemon.', 'up --detach');
      return reason === 'removed'
        ? advice('Add it again if it is wanted.', `add ${server} -- <command> [args…]`)
        : null;
    }
    default:
      return null;
  }
}

function backOffAdvice(
  { class: kind, phase }: Failure,
  advice: (text: string, words: string) => Next,
  server: string,
): Next {
  switch (kind) {
    case 'timeout':
      return advice(
        `If it needs longer, raise \`${phase === 'list' ? 'listTimeoutMs' : 'connectTimeoutMs'}\` of its entry, or try again at once.`,
        `reconnect ${server}`,
      );
    case 'exit':
      return advice('Read what it wrote last, mend that, then try again at once.', `reconnect ${server}`);
    case 'overload':
      return advice(
        'Too much was asked of it or of this machine; it is tried again by itself. To try now:',
        `reconnect ${server}`,
      );
    case 'transport':
    case 'http-status':
      return advice('See whether the server behind the URL is up, then try again at once.', `reconnect ${server}`);
    default:
      return advice('It is tried again by itself. To try now:', `reconnect ${server}`);
  }
}
