import type { History } from '../../api/client.ts';
import { aboutServer, unlessNoDaemon } from '../ask.daemon.ts';
import type { Command, View } from '../command.ts';
import { exactDuration, localTime } from '../duration.ts';
import { timeOption } from '../log.times.ts';
import { offlineHistory } from '../offline.history.ts';
import { oneLine } from '../paint.ts';
import { stateCell } from '../status.text.ts';
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

export const history: Command = {
  description: {
    name: 'history',
    group: 'Log',
    summary: 'show in which states a server was, and why',
    arguments: [{ name: '<server>', about: 'its name' }],
    options: [
      { flags: '--from <T>', about: 'nothing before this moment' },
      { flags: '--to <T>', about: 'nothing after this moment' },
    ],
    examples: [
      { line: 'history github --from yesterday', about: 'since the beginning of yesterday' },
      { line: 'history github --json', about: 'intervals without gaps or overlaps; the last one has no end' },
    ],
  },
  async run(context, { positional: [name = ''] }, options) {
    const from = await timeOption(context, options, 'from');
    const to = await timeOption(context, options, 'to');
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
