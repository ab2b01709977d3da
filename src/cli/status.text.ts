/** The status of servers for people. Pure. */
import type { ServerStatus, Status } from '../api/client.ts';
import type { View } from './command.ts';
import { counted, duration, localTime } from './duration.ts';
import { type Color, errorWords, oneLine } from './paint.ts';
import type { Interval } from './shapes.ts';
import { type Cell, table } from './table.ts';

const colors: Readonly<Record<Interval['state'], Color>> = {
  ready: 'green',
  connecting: 'cyan',
  listing: 'cyan',
  reconnecting: 'yellow',
  'session-lost': 'yellow',
  'backing-off': 'yellow',
  'auth-required': 'red',
  failed: 'red',
  stopping: 'dim',
  stopped: 'dim',
  disabled: 'dim',
  idle: 'dim',
  unobserved: 'dim',
};

/** A state as a word in its colour. */
export const stateCell = (state: Interval['state']): Cell => ({ text: state, color: colors[state] });

const errorOf = ({ error }: ServerStatus): string => (error ? errorWords(error) : '');

const nextOf = ({ nextAttemptAt }: ServerStatus, now: number): string => {
  if (nextAttemptAt === null) return '';
  const wait = Date.parse(nextAttemptAt) - now;
  return wait <= 0 ? 'now' : `in ${duration(wait)}`;
};

/** One line a server. Columns nobody needs at the moment are left out. */
export function statusTable({ servers }: Status, view: View): string {
  const rows = servers.map((server): Cell[] => [
    { text: server.name, color: 'bold' },
    stateCell(server.state),
    { text: String(server.tools) },
    { text: duration(view.now - Date.parse(server.since)) },
    { text: nextOf(server, view.now) },
    { text: errorOf(server), color: server.state === 'ready' ? 'yellow' : 'red' },
  ]);
  return table(
    [
      { title: 'SERVER' },
      { title: 'STATE' },
      { title: 'TOOLS', right: true },
      { title: 'SINCE' },
      { title: 'NEXT TRY' },
      { title: 'ERROR', shrinksTo: 20 },
    ],
    rows,
    view,
  );
}

/** All that is known of one server, a line each. */
export function statusDetails(server: ServerStatus, view: View): string {
  const { serverInfo } = server;
  const lines: readonly (readonly [string, string])[] = [
    ['state', view.paint(colors[server.state], server.state)],
    ['since', `${localTime(server.since)} (${duration(view.now - Date.parse(server.since))})`],
    ['tools', String(server.tools)],
    ['error', view.paint('red', errorOf(server))],
    ['attempt', server.attempt > 1 || server.nextAttemptAt !== null ? String(server.attempt) : ''],
    ['next try', nextOf(server, view.now)],
    ['transport', server.transport ?? ''],
    ['pid', server.pid === null ? '' : String(server.pid)],
    ['protocol', [server.protocolVersion, server.era && `(${server.era})`].filter(Boolean).join(' ')],
    ['server', serverInfo ? oneLine(`${serverInfo.name} ${serverInfo.version ?? ''}`) : ''],
    ['recording', server.recording ? 'on' : ''],
    ['last seen', server.lastSeen === null ? '' : localTime(server.lastSeen)],
    ...(server.warnings ?? []).map((warning): [string, string] => ['warning', oneLine(warning)]),
  ];
  const shown = lines.filter(([, value]) => value !== '').map(([title, value]) => `  ${title.padEnd(10)} ${value}\n`);
  return `${view.paint('bold', server.name)}\n${shown.join('')}`;
}

/** What is worth a line of its own when it changes; the rest of a status moves by itself. */
export const statusKey = (server: ServerStatus): string =>
  JSON.stringify([server.state, server.tools, server.error?.class, server.error?.message, server.nextAttemptAt]);

/** One server as one line for a pipe, with the time it was seen. */
export function statusLine(server: ServerStatus, at: number): string {
  const error = errorOf(server);
  return [new Date(at).toISOString(), server.name, server.state, counted(server.tools, 'tool'), error]
    .filter((word) => word !== '')
    .join('  ');
}
