/** How things stand, in one or two sentences without times of day. Pure. */
import type { Failure } from '../events/shapes.ts';
import { isFailure, type ServerTold } from './trouble.ts';
import type { About } from './why.ts';
import { reasonWords, stop } from './why.words.ts';
import { counted, exactDuration } from './words.ts';

/** ` (exit): initialize: …`; the class is said once where the message begins with it. */
const because = ({ class: kind, message }: Failure): string =>
  `${message.startsWith(`${kind}: `) ? '' : ` (${kind})`}: ${stop(message)}`;

const lastFailure = (story: readonly ServerTold[]) => story.findLast(isFailure);

/** ` Last failure: …`, or nothing. */
const afterWhat = (story: readonly ServerTold[]): string => {
  const failed = lastFailure(story);
  return failed ? ` The last failure${because(failed.data.failure)}` : '';
};

/** What the losses of a day add to a sentence. */
function dayWords({ today, atLeast }: About['losses']): string {
  if (today === 0) return 'The connection was not lost today.';
  const often = today === 1 ? 'once' : `${today} times`;
  return `The connection was lost ${atLeast ? 'at least ' : ''}${often} today.`;
}

/** How a server that is ready got there. */
function readyWords({ story }: About): string {
  const start = story.findLast((fact) => fact.type === 'ConnectStarted' || fact.type === 'ReconnectStarted');
  const failed = story.find((fact) => isFailure(fact) && fact.type !== 'ListFailed');
  if (start && failed && isFailure(failed)) {
    const what = failed.type === 'SessionLost' ? 'the connection was lost' : 'it had failed';
    const { attempt } = start.data;
    const came =
      start.type === 'ConnectStarted' ? 'somebody asked for another attempt' : `attempt ${attempt} succeeded`;
    return `, after ${what} (${failed.data.failure.class}) and ${came}`;
  }
  return start ? ', since the first attempt' : '';
}

export function summaryOf(about: About): string {
  const { evidence, story, state, ended, since, attempts, dueAt, losses } = about;
  const lasted = exactDuration(evidence.at - since);
  const last = story.at(-1) as ServerTold;
  switch (state) {
    case 'ready': {
      const list = story.findLast(({ type }) => type === 'ToolsListed');
      const tools = list?.type === 'ToolsListed' ? ` with ${counted(list.data.count, 'tool')}` : '';
      const trouble = story.findLast(({ type }) => type === 'ListFailed' || type === 'ToolsListed');
      const stale =
        trouble?.type === 'ListFailed' ? ` Its tool list could not be read again${because(trouble.data.failure)}` : '';
      return `Ready for ${lasted}${tools}${readyWords(about)}. ${dayWords(losses)}${stale}`;
    }
    case 'backing-off': {
      const left = dueAt === null ? 0 : dueAt - evidence.at;
      const due = left > 0 ? `due in ${exactDuration(left)}` : 'due now';
      return `It failed; attempt ${attempts + 1} is ${due}.${afterWhat(story)}`;
    }
    case 'connecting':
    case 'reconnecting': {
      const limit = evidence.limits ? ` and may take ${exactDuration(evidence.limits.connectTimeoutMs)}` : '';
      return `Attempt ${attempts} began ${lasted} ago${limit}.${afterWhat(story)}`;
    }
    case 'listing':
      return `Connected; its tool list was asked for ${lasted} ago.${afterWhat(story)}`;
    case 'session-lost':
      return `The connection has just been lost.${afterWhat(story)}`;
    case 'auth-required':
      return `It has been waiting for a person to log in for ${lasted}.${afterWhat(story)}`;
    case 'failed':
      return `For ${lasted} now it has not been tried, because it cannot work as it is configured.${afterWhat(story)}`;
    case 'disabled':
      return `Disabled in the configuration file for ${lasted}: it is known and not run.`;
    case 'idle': {
      const rested = story.findLast(({ type }) => type === 'ServerStopped');
      if (rested?.type === 'ServerStopped' && rested.data.reason === 'idle')
        return `Asleep for ${lasted}, because ${reasonWords('idle')}; the next use starts it.`;
      if (evidence.lazy) return `Not started yet: its entry is lazy, so the first use starts it.`;
      return `It has been waiting for its turn to start for ${lasted}.`;
    }
    case 'stopping':
      return `It began to close ${lasted} ago${last.type === 'StopRequested' ? `, because ${reasonWords(last.data.reason)}` : ''}.`;
    case 'unobserved': {
      const { dead } = evidence;
      const until = dead?.to ? ` One came back after ${exactDuration(dead.to - dead.from)}.` : '';
      return `No daemon ran, so nobody knows how it was. When it was last seen it was ${ended}.${until}`;
    }
    default: {
      const rested = story.findLast(({ type }) => type === 'ServerStopped');
      const reason = rested?.type === 'ServerStopped' ? `, because ${reasonWords(rested.data.reason)}` : '';
      return `Stopped for ${lasted}${reason}.`;
    }
  }
}
