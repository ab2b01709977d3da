import type { History } from '../../api/client.ts';
import { aboutServer, unlessNoDaemon } from '../ask.daemon.ts';
import type { Command, Context, View } from '../command.ts';
import { exactDuration, localTime } from '../duration.ts';
import { usedWrongly } from '../failure.ts';
import { windowOptions } from '../log.times.ts';
import { offlineHistory } from '../offline.history.ts';
import { offlineSummary } from '../offline.summary.ts';
import { flag } from '../options.ts';
import { oneLine } from '../paint.ts';
import { stateCell } from '../status.text.ts';
import { summaryDetails, summaryTable } from '../summary.text.ts';
import { type Cell, table } from '../table.ts';

const intervalTable = ({ intervals }: History, view: View): string =>
  table(
    [{ title: 'FROM' }, { title: 'STATE' }, { title: 'LASTED', right: true }, { title: 'CAUSE', shrinksTo: 20 }],
    intervals.map(({ from, to, state, cause }): Cell[] => [
      { text: localTime(from) },
      stateCell(state),
      { text: exactDuration((to === null ? view.now : Date.parse(to)) - Date.parse(from)) },
      { text: cause === null ? '' : oneLine(cause) },
    ]),
    view,
  );

const iso = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();

/** `--summary`: how well it did, in numbers, instead of what it did. */
async function summary(context: Context, name: string | undefined, from: number | undefined, to: number | undefined) {
  const query = { name, from: iso(from), to: iso(to) };
  const ask = () => context.api.summary(query);
  const found = await unlessNoDaemon(
    context.api,
    () => (name === undefined ? ask() : aboutServer(context.api, name, 'history --summary', ask)),
    (why) => offlineSummary(context.files.databaseFile, { name, from, to }, why),
  );
  return {
    kind: 'answer' as const,
    json: found,
    text: (view: View) => {
      const [first] = found.servers;
      if (!first) return `Nothing is known of ${name ?? 'any server'} in that time.\n`;
      return name === undefined ? summaryTable(found, view) : summaryDetails(first, view);
    },
    notes: found.servers.length > 0 ? [] : ['See the servers: watchkeeper status'],
  };
}

export const history: Command = {
  description: {
    name: 'history',
    group: 'Log',
    summary: 'show in which states a server was, and why; or how well it did',
    arguments: [{ name: '[server]', about: 'its name; with --summary all servers when it is left out' }],
    options: [
      { flags: '--summary', about: 'availability, losses, latency, failures and what they have in common' },
      { flags: '--from <T>', about: 'nothing before this moment' },
      { flags: '--to <T>', about: 'nothing after this moment' },
    ],
    examples: [
      { line: 'history github --from yesterday', about: 'since the beginning of yesterday' },
      { line: 'history --summary --from 7d', about: 'how well each server did in the last week, a line each' },
      { line: 'history github --summary', about: 'its failures, counted, and what its losses have in common' },
      { line: 'history github --json', about: 'intervals without gaps or overlaps; the last one has no end' },
    ],
  },
  async run(context, { positional: [name] }, options) {
    if (name === undefined && !flag(options, 'summary'))
      throw usedWrongly('history wants the name of a server, or --summary for all of them.', 'history --summary');
    const { from, to } = await windowOptions(context, options);
    if (name === undefined || flag(options, 'summary')) return summary(context, name, from, to);
    const found = await unlessNoDaemon(
      context.api,
      () =>
        aboutServer(context.api, name, 'history', () => context.api.history({ name, from: iso(from), to: iso(to) })),
      (why) => offlineHistory(context.files.databaseFile, { name, from, to }, why),
    );
    return {
      kind: 'answer',
      json: found,
      text: (view) =>
        found.intervals.length > 0 ? intervalTable(found, view) : `Nothing is known of ${name} in that time.\n`,
      notes: found.intervals.length > 0 ? [] : ['See the servers: watchkeeper status'],
    };
  },
};
