/** Facts of the log for people: one line each. Pure. */
import type { View } from './command.ts';
import { counted, exactDuration, localTime } from './duration.ts';
import { type Color, cut, errorWords, oneLine, widthOf } from './paint.ts';
import type { Event } from './shapes.ts';

type Members = Readonly<Record<string, unknown>>;

const members = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {});

const word = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

const names = (title: string, value: unknown): string =>
  Array.isArray(value) && value.length > 0 ? `${title} ${value.map(word).join(', ')}` : '';

function failureWords(value: unknown): string {
  const failure = members(value);
  const seen = [
    typeof failure.exitCode === 'number' ? `exit ${failure.exitCode}` : '',
    word(failure.signal),
    typeof failure.httpStatus === 'number' ? `HTTP ${failure.httpStatus}` : '',
  ].filter((part) => part !== '');
  const [kind, message] = [word(failure.class), word(failure.message)];
  const text = kind === '' ? message : errorWords({ class: kind, message });
  return seen.length > 0 && text !== '' ? `${text} (${seen.join(', ')})` : text;
}

const millis = (title: string, value: unknown): string =>
  typeof value === 'number' ? `${title} ${exactDuration(value)}` : '';

/** The members worth reading, in a fixed order; what is not known here stays for `--json`. */
export function factWords(event: Event): string {
  const data = members(event.data);
  const request = members(data.request);
  const ofLogin = event.stream === 'logins';
  return [
    ofLogin ? word(data.server) : '',
    event.type === 'LoginEnded' ? (data.ok === true ? 'logged in' : 'not logged in') : '',
    ofLogin && word(data.issuer) !== '' ? `at ${word(data.issuer)}` : '',
    ofLogin && word(data.because) !== '' ? `because it was ${word(data.because)}` : '',
    word(data.entry),
    word(data.name) || word(request.name),
    word(data.protocolVersion),
    typeof data.count === 'number' ? counted(data.count, 'tool') : '',
    Array.isArray(data.tools) ? 'list changed' : '',
    typeof data.pid === 'number' ? `pid ${data.pid}` : '',
    word(data.verdict),
    word(data.outcome),
    data.remember === undefined ? '' : `remember ${word(data.remember)}`,
    failureWords(data.failure) || failureWords(data.problem),
    word(data.reason),
    event.type === 'ConfigRejected' ? word(data.message) : '',
    names('added', data.added),
    names('changed', data.changed),
    names('removed', data.removed),
    word(data.by) && `by ${word(data.by)}`,
    ofLogin ? '' : word(data.client) && `from ${word(data.client)}`,
    millis('next try in', data.delayMs),
    millis('after', data.tookMs),
  ]
    .filter((part) => part !== '')
    .map(oneLine)
    .join(', ');
}

const colorOf = (type: string): Color => {
  if (/Failed|Lost|Rejected|Suspended/.test(type)) return 'red';
  if (/Required|Held|Denied/.test(type)) return 'yellow';
  return 'cyan';
};

/** `1204  2026-03-01 14:30:05.123  server-github  SessionLost → session-lost  transport: …`; cut to a terminal's width only. */
export function eventLine(event: Event, view: View): string {
  const to = word(members(event.data).to);
  const head = `${String(event.position).padStart(6)}  ${localTime(event.at)}  ${event.stream}  `;
  const type = `${event.type}${to === '' ? '' : ` → ${to}`}`;
  const words = factWords(event);
  const room = view.width === undefined ? undefined : Math.max(20, view.width - widthOf(head) - widthOf(type) - 2);
  const tail = words === '' ? '' : `  ${room === undefined ? words : cut(words, room)}`;
  return `${view.paint('dim', head)}${view.paint(colorOf(event.type), type)}${tail}\n`;
}
