/** An afternoon of a server that fails in five ways, and what `why` says about it at any moment. */
import type { ServerFact } from '../../src/events/server.events.ts';
import type { Failure } from '../../src/events/shapes.ts';
import type { SqliteLog } from '../../src/events/sqlite.ts';
import { catalogOf } from '../../src/projections/catalog.projection.ts';
import { type Asked, gather } from '../../src/replay/why.read.ts';
import { explain, type Why } from '../../src/replay/why.ts';
import {
  configured,
  connected,
  connectFailed,
  connecting,
  delayed,
  elapsed,
  enabled,
  listed,
  listFailed,
  loginRequired,
  lost,
  process,
  reconnecting,
  settledDown,
  stopped,
  stopRequested,
} from './server.facts.ts';
import { daemonStarted, givenLog, type Story, storyOn } from './story.ts';

/** Midnight of the day; every moment below is UTC. */
export const midnight = Date.UTC(2026, 2, 15);
export const clock = (text: string): number => {
  const [hours = 0, minutes = 0, seconds = 0] = text.split(':').map(Number);
  return midnight + Math.round((hours * 3600 + minutes * 60 + seconds) * 1000);
};

/** What `why` answers for a server of a log. */
export function whyOf(log: SqliteLog, more: Partial<Asked> & { now: number }): Why {
  const evidence = gather(log, {
    server: 'one',
    at: undefined,
    dayStart: () => midnight,
    listAt: (server, position) => catalogOf(log.db, server, position),
    ...more,
  });
  if (!evidence) throw new Error('The log knows nothing of the server by then.');
  return explain(evidence);
}

export const killed: Failure = {
  class: 'exit',
  phase: 'watch',
  message: 'watch: the process was ended by SIGKILL',
  exitCode: null,
  signal: 'SIGKILL',
  stderrTail: 'reading the index\nout of memory\n',
};
export const broken: Failure = {
  class: 'exit',
  phase: 'initialize',
  message: 'initialize: the process exited with code 3: Error: cannot open index.db',
  exitCode: 3,
  signal: null,
  stderrTail: 'node:fs\nError: cannot open index.db\n',
};
export const silent: Failure = {
  class: 'timeout',
  phase: 'initialize',
  message: 'initialize: no answer within 5000 ms (connectTimeoutMs)',
};
export const unavailable: Failure = {
  class: 'http-status',
  phase: 'initialize',
  message: 'initialize: http://127.0.0.1:9 answered HTTP 502: Bad gateway',
  httpStatus: 502,
};

const limits = configured().data as Extract<ServerFact, { type: 'ServerConfigured' }>['data'];

/** Killed at 12:30, broken until 12:31, told to hurry at 13:00 and too slow for it, wants a login at 14:00, mute at 15:00. */
export async function afternoon(): Promise<{ log: SqliteLog; story: Story }> {
  const log = givenLog();
  const story = storyOn(log);
  const tell = (time: string, ...facts: ServerFact[]) => story.tell(clock(time), 'server-one', ...facts);
  await story.tell(clock('09:00'), 'daemon', daemonStarted(null));
  await tell('09:00', configured(), enabled, connecting());
  await tell('09:00:01', process(), connected());
  await tell('09:00:02', listed());
  await tell('12:30', lost(1, killed), reconnecting(2, 2));
  await tell('12:30:01', process(2), connectFailed(2, 2, 600, broken));
  await tell('12:30:02', elapsed, reconnecting(3, 3));
  await tell('12:30:03', connectFailed(3, 3, 1_500, broken));
  await tell('12:30:05', elapsed, reconnecting(4, 4));
  await tell('12:30:06', connectFailed(4, 4, 3_000, broken));
  await tell('12:31', elapsed, reconnecting(5, 5));
  await tell('12:31:02', connected(5));
  await tell('12:31:03', listed(5, 's2', [{ name: 'get' }, { name: 'put' }]));
  await tell('12:31:33', settledDown(5));
  const hurried = configured({ revision: 'r2', limits: { ...limits.limits, connectTimeoutMs: 5_000 } });
  await story.tell(clock('13:00'), 'config', {
    type: 'ConfigChanged',
    data: { added: [], changed: ['one'], removed: [], warnings: [] },
  });
  await tell('13:00', hurried, stopRequested('config-changed'));
  await tell('13:00:01', stopped('config-changed'), enabled, connecting(6));
  await tell('13:00:06', connectFailed(6, 1, 800, silent));
  await tell('13:00:07', elapsed, reconnecting(7, 2));
  await tell('13:00:10', connected(7));
  await tell('13:00:11', listed(7, 's2', null));
  await tell('13:00:41', settledDown(7));
  await tell('14:00', loginRequired(7));
  await tell('14:20', connecting(8));
  await tell('14:20:01', connected(8));
  await tell('14:20:02', listed(8, 's2', null));
  await tell('15:00', listFailed(8));
  await tell('15:10', lost(8, unavailable), delayed(2, 700));
  return { log, story };
}
