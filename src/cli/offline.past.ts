/** Servers and their tools as they were, out of the files, for when no daemon runs. */
import type { Status, Tools, ToolsHistory } from '../api/client.ts';
import type { DaemonUnreachable } from '../api/errors.ts';
import { unknownServer } from './ask.daemon.ts';
import type { Context } from './command.ts';
import { localTime } from './duration.ts';
import { CommandError, usedWrongly } from './failure.ts';
import type { Moment } from './moment.ts';
import { fromDatabase, isAhead, NO_DAEMON, type OfflineLog, placeOf, serversIn } from './offline.log.ts';

type Files = Pick<Context, 'files' | 'env' | 'now'>;

/** In the shape of the API. Throws `why` when there is nothing to read. */
export const offlineStatusAt = ({ files, now }: Files, at: Moment, why: DaemonUnreachable): Promise<Past<Status>> =>
  fromDatabase(files.databaseFile, why, async ({ db, log }) => {
    const { statusAnswer } = await import('../keeper/answers.ts');
    const { statusAsOf } = await import('../keeper/as-of.ts');
    const { statusMarks } = await import('../projections/status.projection.ts');
    const position = positionIn(log, at, now(), 'at', 'log');
    const servers = statusAsOf(log, position, statusMarks(db)).map((row) => statusAnswer(row));
    return { answer: { servers }, unwatchedSince: unwatchedSince(log, at) };
  });

/** Of one server, or of all; in the shape of the API. Which of them an entry includes is read from the config file. */
export const offlineToolsAt = (
  { files, env, now }: Files,
  { server, at }: { readonly server: string | undefined; readonly at: Moment },
  why: DaemonUnreachable,
): Promise<Past<Tools>> =>
  fromDatabase(files.databaseFile, why, async ({ db, log }) => {
    const { toolAnswer } = await import('../keeper/answers.ts');
    const { toolsAsOf } = await import('../keeper/tools-as-of.ts');
    const { loadConfig } = await import('../config/load.ts');
    const { settingsOf } = await import('./config.findings.ts');
    mustBeIn(log, server, 'tools');
    const position = positionIn(log, at, now(), 'at', 'log');
    const reading = await loadConfig(files.configFile);
    const entries = reading.kind === 'loaded' ? reading.config.entries : [];
    const { naming } = await settingsOf(files, env);
    const tools = toolsAsOf(
      { log, db, maxLength: naming.maxLength, entry: (name) => entries.find((entry) => entry.name === name) },
      position,
    );
    return {
      answer: {
        tools: tools
          .filter((tool) => server === undefined || tool.server === server)
          .map((tool) => toolAnswer(tool, tool.judged)),
      },
      unwatchedSince: unwatchedSince(log, at),
    };
  });

/** How the tools of one server, or of all, changed; in the shape of the API. */
export const offlineToolsHistory = (
  { files, now }: Files,
  query: { readonly server: string | undefined; readonly from: Moment | undefined; readonly to: Moment | undefined },
  why: DaemonUnreachable,
): Promise<ToolsHistory> =>
  fromDatabase(files.databaseFile, why, async ({ db, log }) => {
    const { toolsHistoryOf } = await import('../keeper/tools-history.ts');
    const { spelledName } = await import('../mcp/naming.ts');
    const { server } = query;
    mustBeIn(log, server, 'tools --changes');
    const from = query.from && positionIn(log, query.from, now(), 'from', 'tools --changes');
    const to = query.to && positionIn(log, query.to, now(), 'to', 'tools --changes');
    if (from !== undefined && to !== undefined && from > to)
      throw usedWrongly('--from is after --to; exchange them.', 'tools --changes');
    return toolsHistoryOf(
      { log, db, nameOf: (of, tool) => spelledName({ server: of, tool }) },
      { server, from, to },
    ) as ToolsHistory;
  });

export interface Past<Answer> {
  readonly answer: Answer;
  /** In ms since the epoch, when no daemon has watched from then until the moment that was asked about; else null. */
  readonly unwatchedSince: number | null;
}

/** What the reader of such an answer has to know. */
export const offlineNotes = ({ unwatchedSince }: Pick<Past<unknown>, 'unwatchedSince'>): string[] => [
  unwatchedSince === null
    ? NO_DAEMON
    : `No daemon runs, and none has watched since ${localTime(new Date(unwatchedSince).toISOString())}; this is how things were then.`,
];

/** Where the log stood at a moment that an option names. */
function positionIn(log: OfflineLog, moment: Moment, now: number, option: string, command: string): number {
  const last = log.lastPosition();
  if (last === 0) throw new CommandError('The log holds nothing yet.', { next: ['up --detach'] });
  if (isAhead(log, moment, now))
    throw usedWrongly(`--${option} lies in the future: the newest fact is at position ${last}.`, command);
  return placeOf(log, moment);
}

function unwatchedSince(log: OfflineLog, at: Moment): number | null {
  const alive = log.lastAlive();
  return 'time' in at && alive !== null && at.time > alive ? alive : null;
}

function mustBeIn(log: OfflineLog, server: string | undefined, command: string): void {
  if (server === undefined) return;
  const known = serversIn(log);
  if (!known.includes(server)) throw unknownServer(server, known, command);
}
