/** Facts in plain words. */
import type { FactType } from '../events/catalogue.ts';
import { classed, counted, exactDuration } from './words.ts';

type Members = Readonly<Record<string, unknown>>;

/** As much of a fact as is put into words; it may come from the log, over HTTP or out of a file. */
export interface Worded {
  readonly type: string;
  readonly data: unknown;
}

const members = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {});

const word = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

const names = (title: string, value: unknown): string =>
  Array.isArray(value) && value.length > 0 ? `${title} ${value.map(word).join(', ')}` : '';

function failureWords(value: unknown): string {
  const failure = members(value);
  const [kind, message] = [word(failure.class), word(failure.message)];
  // Most messages say it themselves.
  const says = (what: string): boolean => new RegExp(`(?<![\\w.])${what}(?![\\w.])`, 'i').test(message);
  const seen = [
    typeof failure.exitCode === 'number' && !says(`(?:code|exit) ${failure.exitCode}`)
      ? `exit ${failure.exitCode}`
      : '',
    message.includes(word(failure.signal)) ? '' : word(failure.signal),
    typeof failure.httpStatus === 'number' && !says(String(failure.httpStatus)) ? `HTTP ${failure.httpStatus}` : '',
  ].filter((part) => part !== '');
  const text = kind === '' ? message : classed({ class: kind, message });
  return seen.length > 0 && text !== '' ? `${text} (${seen.join(', ')})` : text;
}

const millis = (title: string, value: unknown): string =>
  typeof value === 'number' ? `${title} ${exactDuration(value)}` : '';

/** Facts about a login and its credentials; that a server wants one is a fact about the server. */
const LOGIN = /^(?:LoginStarted|LoginEnded|LoginLost|TokenRefreshed|CredentialsDeleted)$/;

/** The members worth reading, in a fixed order. What servers wrote is in it as they wrote it. */
export function factWords({ type, data: given }: Worded): string {
  const data = members(given);
  const request = members(data.request);
  const ofLogin = LOGIN.test(type);
  return [
    ofLogin ? word(data.server) : '',
    type === 'LoginEnded' ? (data.ok === true ? 'logged in' : 'not logged in') : '',
    ofLogin && word(data.issuer) !== '' ? `at ${word(data.issuer)}` : '',
    ofLogin && word(data.because) !== '' ? `because it was ${word(data.because)}` : '',
    word(data.entry),
    word(data.name) || word(request.name),
    word(data.protocolVersion) && `protocol ${word(data.protocolVersion)}`,
    typeof data.count === 'number' ? counted(data.count, 'tool') : '',
    Array.isArray(data.tools) ? 'list changed' : '',
    typeof data.pid === 'number' ? `pid ${data.pid}` : '',
    word(data.verdict),
    word(data.outcome),
    data.remember === undefined ? '' : `remember ${word(data.remember)}`,
    failureWords(data.failure) || failureWords(data.problem),
    word(data.reason),
    type === 'ConfigRejected' ? word(data.message) : '',
    word(data.note),
    names('added', data.added),
    names('changed', data.changed),
    names('removed', data.removed),
    word(data.by) && `by ${word(data.by)}`,
    ofLogin ? '' : word(data.client) && `from ${word(data.client)}`,
    millis('next try in', data.delayMs),
    millis('after', data.tookMs),
  ]
    .filter((part) => part !== '')
    .join(', ');
}

const FOUND: Readonly<Record<string, string>> = {
  ran: 'it ran',
  'not-run': 'it did not run',
  'cannot-tell': 'nobody can tell',
};

/** What happened, without its members. */
const happened: Readonly<Record<FactType, string | ((data: Members) => string)>> = {
  ServerConfigured: ({ problem }) => (problem ? 'its entry cannot be used' : 'its entry was read'),
  ServerRemoved: 'its entry is gone from the file',
  ServerEnabled: 'it may be started',
  ServerDisabled: 'it is known and not run',
  ConnectStarted: 'the first attempt begins',
  ReconnectStarted: ({ attempt }) => `attempt ${word(attempt)} begins`,
  ProcessStarted: 'its process runs',
  Connected: 'connected',
  ConnectFailed: ({ attempt }) => `attempt ${word(attempt)} failed`,
  LoginRequired: 'it wants a login',
  ServerFailed: 'it cannot work as it is',
  ToolsListed: 'its tools are known',
  ListFailed: 'a later list failed, the one before stays',
  PushChanged: ({ push }) => (push ? 'it announces changes' : 'it announces no changes'),
  SessionLost: 'the connection was lost',
  ReconnectDelayed: 'it was lost too soon to try at once',
  BackoffElapsed: 'the pause is over',
  SettledDown: 'it has held: earlier failures no longer count',
  StopRequested: 'it is being closed',
  ServerStopped: 'it was closed',
  CallHeld: 'the call waits for a person',
  CallerLeft: 'the caller no longer waits',
  CallerReturned: 'the same call came again',
  CallApproved: 'a person approved the call',
  CallStarted: 'the call may run from now on',
  CallResent: 'the call was not taken and is sent again',
  CallSettled: 'the call ended',
  CallClosed: ({ finding }) => `a person closed the call: ${FOUND[word(finding)] ?? word(finding)}`,
  GrantAdded: 'a tool is granted',
  GrantRemoved: 'a grant is gone',
  GrantBound: 'a grant is tied to what is there',
  GrantSuspended: 'a grant is suspended: what it was tied to changed',
  ConfigChanged: 'the configuration changed',
  ConfigRejected: 'the configuration could not be read',
  DaemonStarted: 'the daemon started',
  DaemonStopped: 'the daemon stopped',
  RecordingStarted: 'a recording began',
  RecordingStopped: 'a recording ended',
  LoginStarted: 'a login began',
  LoginEnded: 'a login ended',
  LoginLost: 'the login is no longer good',
  TokenRefreshed: 'a new token was fetched',
  CredentialsDeleted: 'what was kept of a login was deleted',
};

/** `the connection was lost: exit: it exited with code 3 (exit 3)`. A type that is not known here is called by its name. */
export function inPlainWords(fact: Worded): string {
  const said = Object.hasOwn(happened, fact.type) ? happened[fact.type as FactType] : fact.type;
  const what = typeof said === 'string' ? said : said(members(fact.data));
  const more = factWords(fact);
  return more === '' ? what : `${what}: ${more}`;
}
