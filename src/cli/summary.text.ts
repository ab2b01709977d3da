/** How well servers did, for people. Pure. */
import type { Summary } from '../api/client.ts';
import type { View } from './command.ts';
import { counted, exactDuration, localTime } from './duration.ts';
import { type Color, oneLine } from './paint.ts';
import { type Cell, table } from './table.ts';

type ServerSummary = Summary['servers'][number];

/** Two decimals, and never 100 % of what was not whole. */
function percent(share: number | null): string {
  if (share === null) return '';
  return `${(share < 1 ? Math.min(99.99, share * 100) : 100).toFixed(2)} %`;
}

const colorOf = (share: number | null): Color | undefined => {
  if (share === null) return undefined;
  return share >= 0.99 ? 'green' : share >= 0.9 ? 'yellow' : 'red';
};

const length = (ms: number | null): string => (ms === null ? '' : exactDuration(ms));

/** One line a server. */
export function summaryTable({ servers }: Summary, view: View): string {
  return table(
    [
      { title: 'SERVER' },
      { title: 'AVAILABLE', right: true },
      { title: 'LOSSES', right: true },
      { title: 'BETWEEN', right: true },
      { title: 'REPAIR', right: true },
      { title: 'FLAP', right: true },
      { title: 'CONNECT P90', right: true },
      { title: 'HINT', shrinksTo: 20 },
    ],
    servers.map((server): Cell[] => [
      { text: server.name, color: 'bold' },
      { text: percent(server.availability), color: colorOf(server.availability) },
      { text: String(server.losses) },
      { text: length(server.mtbfMs) },
      { text: length(server.mttrMs) },
      { text: String(server.flapScore) },
      { text: length(server.latency.connect.p90) },
      { text: server.hints[0] ? oneLine(server.hints[0].text) : '' },
    ]),
    view,
  );
}

function observed({ time, from, to }: ServerSummary): string {
  const parts = [
    `${exactDuration(time.readyMs)} ready`,
    `${exactDuration(time.downMs)} down`,
    ...(time.restingMs > 0 ? [`${exactDuration(time.restingMs)} off or asleep`] : []),
    ...(time.unobservedMs > 0 ? [`${exactDuration(time.unobservedMs)} not watched`] : []),
  ];
  return `${parts.join(', ')} (from ${localTime(from)} to ${localTime(to)})`;
}

function latencyTable({ latency }: ServerSummary, view: View): string {
  const row = (name: string, { count, p50, p90, p99 }: ServerSummary['latency']['call']): Cell[] => [
    { text: name },
    { text: String(count) },
    { text: length(p50) },
    { text: length(p90) },
    { text: length(p99) },
  ];
  const right = (title: string) => ({ title, right: true });
  return table(
    [{ title: 'LATENCY' }, right('COUNT'), right('P50'), right('P90'), right('P99')],
    [row('connect', latency.connect), row('list', latency.list), row('call', latency.call)],
    view,
  );
}

function failureTable({ failures }: ServerSummary, view: View): string {
  if (failures.length === 0) return '';
  return `\n${table(
    [
      { title: 'TIMES', right: true },
      { title: 'FAILURE', shrinksTo: 20 },
      { title: 'CLASS' },
      { title: 'CODE' },
      { title: 'FIRST' },
      { title: 'LAST' },
      { title: 'POSITIONS', shrinksTo: 9 },
    ],
    failures.map((failure): Cell[] => [
      { text: String(failure.count) },
      { text: oneLine(failure.message) },
      { text: failure.class },
      { text: failure.code ?? '' },
      { text: localTime(failure.first.at) },
      { text: localTime(failure.last.at) },
      { text: failure.positions.join(' ') },
    ]),
    view,
  )}`;
}

const someOf = (positions: readonly number[], support: number): string => {
  const last = positions.slice(-5);
  return `${support > last.length ? '… ' : ''}${last.join(' ')}`;
};

function hintLines({ hints, failures }: ServerSummary): string {
  const about = (fingerprint: string | null): string => {
    const failure = fingerprint === null ? undefined : failures.find((one) => one.fingerprint === fingerprint);
    return failure ? ` [${oneLine(failure.message)}]` : '';
  };
  const lines = hints.map(
    ({ text, positions, support, fingerprint }) =>
      `  ${oneLine(text)}${about(fingerprint)}\n    positions ${someOf(positions, support)}\n`,
  );
  return lines.length === 0 ? '' : `\nWhat losses have in common\n${lines.join('')}`;
}

/** All that is known of how one server did. */
export function summaryDetails(server: ServerSummary, view: View): string {
  const lines: readonly (readonly [string, string])[] = [
    ['available', view.paint(colorOf(server.availability) ?? 'dim', percent(server.availability))],
    ['time', observed(server)],
    [
      'losses',
      `${server.losses}${server.mtbfMs === null ? '' : `, one in ${exactDuration(server.mtbfMs)} of ready time`}`,
    ],
    [
      'repair',
      server.mttrMs === null ? '' : `${exactDuration(server.mttrMs)} on average, ${counted(server.repairs, 'time')}`,
    ],
    ['down since', server.failingSince === null ? '' : view.paint('red', localTime(server.failingSince))],
    ['attempts', server.failedAttempts === 0 ? '' : `${server.failedAttempts} failed`],
    ['flap score', `${server.flapScore} of 100`],
  ];
  const shown = lines.filter(([, value]) => value !== '').map(([title, value]) => `  ${title.padEnd(10)} ${value}\n`);
  return `${view.paint('bold', server.name)}\n${shown.join('')}\n${latencyTable(server, view)}${failureTable(server, view)}${hintLines(server)}`;
}
