/** What a fact of a server means, in one sentence without times and positions: those stand beside it. Pure. */
import type { DaemonFact } from '../events/daemon.events.ts';
import type { ServerFact } from '../events/server.events.ts';
import { attemptBegan, makesReady, readySince, type ServerTold, type Told } from './trouble.ts';
import { entryChanged } from './why.entry.ts';
import { counted, exactDuration } from './words.ts';

type DataOf<Type extends ServerFact['type']> = Extract<ServerFact, { type: Type }>['data'];
type Reason = DataOf<'ServerStopped'>['reason'];

const reasons: Readonly<Record<Reason, string>> = {
  disabled: 'it was disabled',
  removed: 'its entry was taken out of the configuration file',
  'config-changed': 'its entry in the configuration file changed',
  reconnect: 'somebody asked for a reconnect',
  idle: 'nobody had used it for as long as `idleStopMs` says',
  'daemon-stopping': 'the daemon was stopped',
  'daemon-ended': 'the daemon ended without stopping it',
};
export const reasonWords = (reason: Reason): string => reasons[reason];

/** What had to happen before the first attempt of a start, as the end of "… because …"; null: somebody asked for one more. */
export function startReason(facts: readonly ServerTold[], index: number, lazy: boolean): string | null {
  for (let back = index - 1; back >= 0; back -= 1) {
    const fact = facts[back] as ServerTold;
    switch (fact.type) {
      case 'ServerEnabled':
      case 'StopRequested':
        break;
      case 'ServerStopped':
        return stopped[fact.data.reason];
      case 'ServerDisabled':
        return 'it was enabled';
      case 'ServerConfigured':
      case 'ServerRemoved':
        if (lazy) return 'it was used for the first time';
        if (facts[back - 1] === undefined) return there(fact);
        break;
      default:
        return null;
    }
  }
  return lazy ? 'it was used for the first time' : 'its entry is in the configuration file';
}

/** The built-in server stands in no file. */
const isBuiltin = (fact: ServerTold): boolean => 'transport' in fact.data && fact.data.transport === 'builtin';
const there = (fact: ServerTold): string =>
  isBuiltin(fact) ? 'the setting `self` is on' : 'its entry is in the configuration file';

const stopped: Readonly<Record<Reason, string>> = {
  disabled: 'it was enabled again',
  removed: 'its entry came back',
  'config-changed': 'its entry in the configuration file had changed',
  reconnect: 'somebody asked for a reconnect',
  idle: 'it was used again',
  'daemon-stopping': 'the daemon started again',
  'daemon-ended': 'the daemon started again',
};

const after = (began: number | undefined, at: number): string =>
  began === undefined ? '' : ` after ${exactDuration(at - began)}`;

/** The sentence about one fact; what came before it in the stream is asked for how long things took. */
export function sentence(facts: readonly ServerTold[], index: number, lazy = false): string {
  const fact = facts[index] as ServerTold;
  const { at } = fact;
  switch (fact.type) {
    case 'ServerConfigured':
      if (isBuiltin(fact)) return 'The daemon offers it from here on: the setting `self` is on.';
      return fact.version === 1
        ? 'Its entry was read from the configuration file for the first time.'
        : entryChanged(facts, index);
    case 'ServerRemoved':
      return 'Its entry was taken out of the configuration file.';
    case 'ServerEnabled': {
      const before = facts.slice(0, index).findLast(({ type }) => type === 'ServerStopped');
      const asleep = before?.type === 'ServerStopped' && before.data.reason === 'idle';
      return lazy || asleep ? 'The next use starts it.' : 'It waits for its turn to start.';
    }
    case 'ServerDisabled':
      return 'It is switched off: its entry says `disabled`.';
    case 'ConnectStarted': {
      const reason = startReason(facts, index, lazy);
      return reason === null
        ? 'A new attempt began, because somebody asked for one.'
        : `The first attempt began, because ${reason}.`;
    }
    case 'ReconnectStarted':
      return `Attempt ${fact.data.attempt} began.`;
    case 'ProcessStarted':
      return `Its process runs as pid ${fact.data.pid}.`;
    case 'Connected': {
      const { serverInfo, protocolVersion, era, transport, tookMs } = fact.data;
      const name = serverInfo ? ` to ${serverInfo.name}${serverInfo.version ? ` ${serverInfo.version}` : ''}` : '';
      if (transport === 'builtin') return `Connected${name}, which is the daemon itself.`;
      return `Connected${name} over ${transport}, protocol ${protocolVersion} (${era}), after ${exactDuration(tookMs)}.`;
    }
    case 'ConnectFailed': {
      const { attempt, delayMs, failure } = fact.data;
      return `Attempt ${attempt} failed${after(attemptBegan(facts, index), at)} (${failure.class}): ${stop(failure.message)} The next one waits ${exactDuration(delayMs)}.`;
    }
    case 'LoginRequired':
      return `The server wants a login: ${stop(fact.data.failure.message)} It is not tried again until a person acts.`;
    case 'ServerFailed': {
      const { failure } = fact.data;
      const what = failure.class === 'config' ? 'The entry cannot be used' : 'It cannot be started';
      const message = failure.message.replace(/^(?:config|spawn): /, '');
      return `${what}: ${stop(message)} It is not tried again until the entry changes or somebody asks for a reconnect.`;
    }
    case 'ToolsListed':
      if (makesReady(facts, index))
        return `Its tool list was read: ${counted(fact.data.count, 'tool')}. Ready from here on.`;
      return fact.data.tools ? 'Its tool list changed.' : 'Its tool list could be read again.';
    case 'ListFailed':
      return `Reading its tool list again failed (${fact.data.failure.class}): ${stop(fact.data.failure.message)} The list known before stays.`;
    case 'PushChanged': {
      const { push, reason } = fact.data;
      return push
        ? 'It announces changes of its lists.'
        : `It does not announce changes of its lists${reason ? ` (${reason})` : ''}; they are polled.`;
    }
    case 'SessionLost': {
      const since = readySince(facts, index);
      const held = since === undefined ? '' : ` after ${exactDuration(at - since)} ready`;
      return `The connection was lost${held} (${fact.data.failure.class}): ${stop(fact.data.failure.message)}`;
    }
    case 'ReconnectDelayed':
      return `It had failed shortly before as well, so attempt ${fact.data.attempt} waits ${exactDuration(fact.data.delayMs)}.`;
    case 'BackoffElapsed':
      return 'The pause is over.';
    case 'SettledDown':
      return 'The connection held; earlier failures no longer count.';
    case 'StopRequested':
      return `It is being closed, because ${reasonWords(fact.data.reason)}.`;
    case 'ServerStopped': {
      const { reason } = fact.data;
      if (reason === 'daemon-ended') return 'Nobody watched it any more: the daemon had ended without stopping it.';
      // That its entry went is a fact of its own.
      return reason === 'removed' ? 'It was closed.' : `It was closed, because ${reasonWords(reason)}.`;
    }
  }
}

/** A start or an end of the daemon. */
export function daemonSentence(fact: Told<DaemonFact>): string {
  if (fact.type === 'DaemonStopped') return 'The daemon was stopped in good order.';
  if (fact.type === 'RecordingStarted')
    return `What goes over the wire of ${fact.data.server} is recorded from here on.`;
  if (fact.type === 'RecordingStopped') return `The recording of ${fact.data.server} ended.`;
  const { version, lastAlive } = fact.data;
  const dead =
    lastAlive === null
      ? ' for the first time'
      : `, ${exactDuration(fact.at - lastAlive)} after the one before was last alive`;
  return `The daemon started (watchkeeper ${version})${dead}.`;
}

/** The words end with a full stop. */
export const stop = (words: string): string => (/[.!?…]$/.test(words) ? words : `${words}.`);
