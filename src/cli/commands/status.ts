import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Status } from '../../api/client.ts';
import { unknownServer, unlessNoDaemon } from '../ask.daemon.ts';
import type { Answer, Command, Context, View } from '../command.ts';
import { usedWrongly } from '../failure.ts';
import { timeOf } from '../log.reader.ts';
import type { Moment } from '../moment.ts';
import { withLog } from '../offline.log.ts';
import { offlineNotes, offlineStatusAt } from '../offline.past.ts';
import { atOf, flag, moment } from '../options.ts';
import { statusDetails, statusTable } from '../status.text.ts';
import { watchStatus } from '../status.watch.ts';

/** The part of a status that is about one server. */
export function only(status: Status, name: string | undefined): Status {
  if (name === undefined) return status;
  const servers = status.servers.filter((server) => server.name === name);
  if (servers.length > 0) return { servers };
  throw unknownServer(
    name,
    status.servers.map((server) => server.name),
    'status',
  );
}

async function once(context: Context, name: string | undefined, options: Parameters<Command['run']>[2]) {
  const when = moment(options, 'at', context.now());
  return when === undefined ? now(context, name) : then(context, name, when);
}

async function now(context: Context, name: string | undefined): Promise<Answer> {
  const status = only(await context.api.status(), name);
  const degraded = await logTrouble(context);
  const clients = name === undefined ? await aboutClients(context) : null;
  return {
    kind: 'answer',
    json: status,
    text: (view) => `${shown(status, name, view)}${clients?.text(view) ?? ''}`,
    ...withWarning(degraded + (context.json ? '' : (clients?.warning ?? ''))),
    notes: status.servers.length === 0 ? ['Add one: watchkeeper add <name> -- <command> [args…]'] : [],
  };
}

async function then(context: Context, name: string | undefined, when: Moment): Promise<Answer> {
  let notes: string[] = [];
  const all = await unlessNoDaemon(
    context.api,
    () => context.api.status({ at: atOf(when) }),
    async (unreachable) => {
      const past = await offlineStatusAt(context, when, unreachable);
      notes = offlineNotes(past);
      return past.answer;
    },
  );
  const status = only(all, name);
  const asOf = await withLog(context, (read) => timeOf(read, when));
  return {
    kind: 'answer',
    json: status,
    text: (view) => shown(status, name, asOf === undefined ? view : { ...view, now: asOf }),
    notes,
  };
}

function shown(status: Status, name: string | undefined, view: View): string {
  const [server] = status.servers;
  if (name !== undefined && server) return statusDetails(server, view);
  return server ? statusTable(status, view) : 'No servers are configured.\n';
}

const withWarning = (warning: string) => (warning === '' ? {} : { warning });

/** What is shown may be older than it looks when the log takes no facts. */
async function logTrouble({ api }: Context): Promise<string> {
  const health = await api.health().catch(() => null);
  return health?.status === 'degraded'
    ? 'warning: The log takes no facts now: servers go on, what happens to them is not written down. Find out why: watchkeeper doctor\n'
    : '';
}

/** What the files of connected clients have drifted from; null when none is connected or nothing is to be said. */
async function aboutClients(context: Context) {
  if (context.json || !existsSync(join(context.files.dataDir, 'clients.json'))) return null;
  const { findingsText, lookAtClients } = await import('../client.list.ts');
  const { warningText } = await import('../client.words.ts');
  const looked = await lookAtClients(context).catch((error: Error) => error);
  // Servers are what was asked about: they are shown whatever is wrong with this.
  if (looked instanceof Error) return { text: () => '', warning: `warning: ${looked.message}\n` };
  const { findings, warnings } = looked;
  const told = findings.filter(({ severity }) => severity !== 'info');
  return {
    text: (view: View) => (told.length === 0 ? '' : `\n${findingsText(told, view)}`),
    warning: warningText(warnings),
  };
}

export const status: Command = {
  description: {
    name: 'status',
    group: 'Servers',
    summary: 'show in which state the servers are',
    arguments: [{ name: '[server]', about: 'only this server, in detail' }],
    options: [
      { flags: '--at <T>', about: 'as it was then: a time, a log position or a span such as 10m' },
      { flags: '--watch', about: 'stay and follow: redraws a terminal, prints changes line by line into a pipe' },
    ],
    examples: [
      { line: 'status', about: 'all servers, a line each' },
      { line: 'status github --at yesterday', about: 'one server as it was at the beginning of yesterday' },
      { line: 'status --watch --json', about: 'the whole status as one JSON line at every change' },
    ],
  },
  async run(context, { positional: [name] }, options) {
    if (!flag(options, 'watch')) return once(context, name, options);
    if (options.at !== undefined)
      throw usedWrongly('--watch follows the present and does not go with --at.', 'status --watch');
    return { kind: 'stream', pieces: watchStatus(context, name, only(await context.api.status(), name)) };
  },
};
