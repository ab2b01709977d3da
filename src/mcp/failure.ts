/** What was seen on the wire, and the closed set of failures it becomes. Pure: one table, tested row by row. */
import type { Failure, FailureClass, Phase } from '../events/shapes.ts';
import { isObject, type RpcError } from './message.ts';

/** Raw, as seen: an errno code, a status, an exit. Text in it may hold secrets until `redactFailure`. */
export type Observation =
  /** Starting the process failed. `wrong` says what the code is about, where a look at the disk could tell. */
  | {
      readonly seen: 'spawn-error';
      readonly code: string;
      readonly wrong: 'command' | 'cwd' | 'interpreter';
      readonly value: string;
    }
  | {
      readonly seen: 'exit';
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly stderrTail: string;
    }
  /** The process runs, but a pipe to it is gone. */
  | { readonly seen: 'pipe-closed'; readonly pipe: 'stdin' | 'stdout'; readonly stderrTail: string }
  /** An errno, DNS, TLS or HTTP parser code of the network layer. */
  | { readonly seen: 'network'; readonly code: string; readonly target: string }
  | Refusal
  /** The server does not know the session (any more). */
  | { readonly seen: 'session-refused'; readonly status: number | null; readonly text: string }
  | { readonly seen: 'stream-ended'; readonly target: string }
  | { readonly seen: 'rpc-error'; readonly code: number; readonly message: string }
  | { readonly seen: 'unparsable'; readonly detail: string }
  /** An answer to the handshake that cannot be worked with. */
  | { readonly seen: 'handshake'; readonly detail: string }
  | { readonly seen: 'time-limit'; readonly stderrTail?: string }
  /** The login that was kept has ended, or cannot be used. `advice`: the command that helps. */
  | { readonly seen: 'login'; readonly detail: string; readonly advice: string }
  /** Something of the daemon itself was in the way. */
  | { readonly seen: 'daemon'; readonly detail: string };

/** An HTTP answer outside 2xx. */
export interface Refusal {
  readonly seen: 'status';
  readonly status: number;
  readonly target: string;
  /** `WWW-Authenticate`, null when there was none. */
  readonly challenge: string | null;
  /** From Retry-After, milliseconds. */
  readonly retryAfterMs: number | null;
  readonly location: string | null;
  /** Start of the body. */
  readonly text: string;
  /** The command that helps, where the server is one to log in to. */
  readonly advice?: string;
}

/** An observation on its way up. `sent`: whether the request may have left. */
export class Fault extends Error {
  override readonly name = 'Fault';
  constructor(
    readonly observation: Observation,
    readonly sent: boolean,
  ) {
    super(observation.seen);
  }
}

/** The longest pause a server may ask for: a day. */
const LONGEST_PAUSE_MS = 86_400_000;

/** Of the machine, not of the entry: they pass, so the start is tried again. */
const EXHAUSTED = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOBUFS', 'ETXTBSY', 'ENOSPC']);
const TIMED_OUT = new Set(['ETIMEDOUT', 'ESOCKETTIMEDOUT']);
const NOT_CONFIGURABLE = new Set([
  'ERR_INVALID_URL',
  'ERR_INVALID_CHAR',
  'ERR_INVALID_HTTP_TOKEN',
  'ERR_INVALID_PROTOCOL',
  'ERR_UNESCAPED_CHARACTERS',
]);

const networkWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (connection refused)',
  ECONNRESET: 'the connection was reset',
  ECONNABORTED: 'the connection was aborted',
  EPIPE: 'the connection was closed while writing',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up (DNS does not answer)',
  EHOSTUNREACH: 'the host cannot be reached',
  EHOSTDOWN: 'the host is down',
  ENETUNREACH: 'the network cannot be reached',
  ENETDOWN: 'the network is down',
  ETIMEDOUT: 'the connection attempt timed out',
  ESOCKETTIMEDOUT: 'the connection timed out',
  CERT_HAS_EXPIRED: 'its TLS certificate has expired',
  CERT_NOT_YET_VALID: 'its TLS certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its TLS certificate is self-signed (name the issuer in NODE_EXTRA_CA_CERTS)',
  SELF_SIGNED_CERT_IN_CHAIN: 'its TLS certificate comes from an unknown issuer (name it in NODE_EXTRA_CA_CERTS)',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its TLS certificate cannot be verified (the chain is incomplete)',
  UNABLE_TO_GET_ISSUER_CERT: 'its TLS certificate comes from an unknown issuer (name it in NODE_EXTRA_CA_CERTS)',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its TLS certificate comes from an unknown issuer (name it in NODE_EXTRA_CA_CERTS)',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its TLS certificate is for another host name',
};

/** The failure an observation is, in the phase it was seen in. The one place where classes are decided. */
export function classify(phase: Phase, observation: Observation): Failure {
  const failure = (kind: FailureClass, words: string, more: Partial<Failure> = {}): Failure => ({
    class: kind,
    phase,
    message: `${phase}: ${words}`,
    ...more,
  });
  switch (observation.seen) {
    case 'spawn-error':
      return failure(EXHAUSTED.has(observation.code) ? 'overload' : 'spawn', spawnWords(observation));
    case 'exit': {
      const { exitCode, signal, stderrTail } = observation;
      return failure('exit', `the process ${exitWords(exitCode, signal)}${lastLine(stderrTail, signal === null)}`, {
        exitCode,
        signal,
        stderrTail,
      });
    }
    case 'pipe-closed':
      return failure(
        'transport',
        `the process runs but closed its ${observation.pipe}${lastLine(observation.stderrTail)}`,
        {
          stderrTail: observation.stderrTail,
        },
      );
    case 'network':
      return failure(networkClass(observation.code), `${observation.target}: ${describeNetwork(observation.code)}`);
    case 'status':
      return failure(statusClass(observation), statusWords(observation), {
        httpStatus: observation.status,
        ...(observation.retryAfterMs === null ? {} : { retryAfterMs: observation.retryAfterMs }),
      });
    case 'session-refused': {
      const said = snippet(observation.text);
      return failure('session', `the server does not know the session any more${said === '' ? '' : ` (${said})`}`, {
        httpStatus: observation.status,
      });
    }
    case 'stream-ended':
      return failure('transport', `${observation.target}: the event stream ended`);
    case 'rpc-error':
      return failure(
        phase === 'initialize' || phase === 'connect' ? 'handshake' : 'protocol',
        `the server answered with error ${observation.code}: ${snippet(observation.message)}`,
      );
    case 'unparsable':
      return failure('protocol', observation.detail);
    case 'handshake':
      return failure('handshake', observation.detail);
    case 'time-limit':
      return failure('timeout', `no answer within the time limit${lastLine(observation.stderrTail ?? '')}`, {
        ...(observation.stderrTail === undefined ? {} : { stderrTail: observation.stderrTail }),
      });
    case 'login':
      return failure('auth', `${observation.detail}; log in: ${observation.advice}`);
    case 'daemon':
      return failure('overload', observation.detail);
  }
}

/**
 * The failure with every foreign text masked: before it is cut to length, so that no half of a secret is left, and once
 * more as a whole.
 */
export function failureOf(phase: Phase, observation: Observation, redact: (text: string) => string): Failure {
  const failure = classify(phase, masked(observation, redact));
  return { ...failure, message: redact(failure.message) };
}

/** Members that are words of ours or of the machine, and decide the class. */
const PLAIN_MEMBERS = new Set(['seen', 'code', 'wrong', 'pipe', 'signal']);

function masked(observation: Observation, redact: (text: string) => string): Observation {
  const members = Object.entries(observation).map(([key, value]) => [
    key,
    typeof value === 'string' && !PLAIN_MEMBERS.has(key) ? redact(value) : value,
  ]);
  return Object.fromEntries(members) as Observation;
}

/** Retry-After in milliseconds (RFC 9110 §10.2.3: seconds or a date); null when absent or not readable. */
export function retryAfter(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(0, Math.ceil(ms)), LONGEST_PAUSE_MS) : null;
}

/**
 * Whether an HTTP answer to a request of the legacy era refuses the session. A 404 to a request that carried a session
 * id always does (specification 2025-11-25, transports, session management), whatever its body; servers that answer 400
 * or leave the id unread say so in words only.
 */
export function refusesSession(status: number, text: string, carriedSession: boolean): boolean {
  if (status === 404 && carriedSession) return true;
  return (status === 400 || status === 404) && /session|not (?:yet |been )?initiali[sz]ed/i.test(text);
}

/**
 * Whether a JSON-RPC error that came with a good status refuses the session. Narrower than the rule for statuses,
 * because tools speak of sessions of their own.
 */
export function errorRefusesSession(code: number, message: string): boolean {
  if (code !== -32000 && code !== -32001 && code !== -32600) return false;
  const said = message.replace(/^(?:error|bad request|not found|invalid request|unauthorized)\s*[:,-]\s*/i, '').trim();
  return (
    /^(?:the )?(?:mcp[- ])?session(?:[- ]id)?(?: header)? (?:is |was |has )?(?:not found|unknown|invalid|expired|required|missing|terminated|not valid|does not exist)/i.test(
      said,
    ) ||
    /^(?:no|invalid|missing|unknown|expired) (?:valid |or (?:missing|expired) )?(?:mcp[- ])?session(?:[- ]id)?\b/i.test(
      said,
    ) ||
    /^(?:the )?(?:server|session|connection|client)(?: is| was|'s)? ?(?:has )?not (?:yet |been )?initiali[sz]ed/i.test(
      said,
    )
  );
}

/** A JSON-RPC error found in the text of an HTTP answer. */
export function rpcErrorIn(text: string): RpcError | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  const error = isObject(parsed) ? parsed.error : undefined;
  if (!isObject(error) || typeof error.code !== 'number') return null;
  const message = typeof error.message === 'string' ? error.message : '';
  return 'data' in error ? { code: error.code, message, data: error.data } : { code: error.code, message };
}

/** Statuses of the first POST after which a client looks for the older HTTP+SSE transport (specification, backwards compatibility). */
export const meansOldTransport = (status: number): boolean =>
  status >= 400 && status < 500 && ![401, 403, 407, 408, 421, 425, 429].includes(status);

function networkClass(code: string): FailureClass {
  if (EXHAUSTED.has(code)) return 'overload';
  if (TIMED_OUT.has(code)) return 'timeout';
  if (NOT_CONFIGURABLE.has(code)) return 'config';
  if (code.startsWith('HPE_')) return 'protocol';
  return 'transport';
}

function describeNetwork(code: string): string {
  const words = networkWords[code];
  if (words !== undefined) return words;
  if (code.startsWith('HPE_')) return `the answer is not HTTP (${code})`;
  if (/CERT|TLS|SSL|EPROTO/.test(code)) return `TLS failed (${code})`;
  if (code === 'ERR_INVALID_CHAR' || code === 'ERR_INVALID_HTTP_TOKEN')
    return 'a configured header has a character that HTTP does not allow';
  if (NOT_CONFIGURABLE.has(code)) return `the URL cannot be used (${code})`;
  if (EXHAUSTED.has(code)) return `this machine has no more room for connections (${code})`;
  return `the connection failed (${code})`;
}

function statusClass({ status, challenge, retryAfterMs }: Refusal): FailureClass {
  if (status === 401) return 'auth';
  if (status === 403 && challenge !== null) return 'auth';
  if (status === 429 || status === 529) return 'overload';
  if (status === 503 && retryAfterMs !== null) return 'overload';
  return 'http-status';
}

function statusWords({ status, target, location, text, challenge, advice }: Refusal): string {
  const said = snippet(rpcErrorIn(text)?.message ?? text);
  const answer = `${target} answered HTTP ${status}`;
  const help = advice === undefined ? '' : `; log in: ${advice}`;
  if (status === 401) return `${answer}: it wants a login${help}`;
  if (status === 403 && /\binsufficient_scope\b/.test(challenge ?? ''))
    return `${answer}: the login does not allow this${scopeIn(challenge ?? '')}${help}`;
  if (status >= 300 && status < 400) {
    return `${answer}: redirects to another place are not followed${location === null ? '' : `; use ${location} as the URL if it is the intended server`}`;
  }
  return said === '' ? answer : `${answer}: ${said}`;
}

/** The scopes a challenge names, in brackets. */
function scopeIn(challenge: string): string {
  const [, scope = ''] = /\bscope="([\x20-\x7e]{1,200}?)"/.exec(challenge) ?? [];
  return scope === '' ? '' : ` (it wants the scopes: ${scope})`;
}

function spawnWords({ code, wrong, value }: Extract<Observation, { seen: 'spawn-error' }>): string {
  if (EXHAUSTED.has(code)) return `this machine has no room for another process just now (${code})`;
  if (wrong === 'cwd')
    return `the folder in "cwd" ${code === 'ENOTDIR' ? 'is not a folder' : code === 'EACCES' ? 'may not be entered' : 'does not exist'}: ${value}`;
  if (wrong === 'interpreter') return `the interpreter named in the first line of ${value} was not found`;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `command not found: ${value} (install it, or write its full path under "command")`;
    case 'EACCES':
    case 'EPERM':
      return `${value} may not be executed (${code}); check its permissions`;
    case 'ENOEXEC':
      return `${value} is not a program this machine can run`;
    case 'E2BIG':
      return `"args" and "env" of ${value} are too long for this machine`;
    default:
      return `${value} could not be started (${code})`;
  }
}

function exitWords(exitCode: number | null, signal: string | null): string {
  return signal === null ? `exited with code ${exitCode ?? 'unknown'}` : `was ended by ${signal}`;
}

/** The last words of the process, since they are usually the reason; not where somebody else ended it. */
function lastLine(stderrTail: string, isReason = true): string {
  const line = stderrTail.trimEnd().split('\n').at(-1)?.trim() ?? '';
  return line === '' ? '' : `${isReason ? ':' : '; its last words:'} ${snippet(line)}`;
}

/** One line of foreign text, without markup, colours and control characters. */
export function snippet(text: string, length = 200): string {
  const plain = text
    .slice(0, length * 20)
    .replace(/<(style|script)[\s\S]*?<\/\1>|<[^>]*>/gi, ' ')
    .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g, '')
    .replace(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ')
    .trim();
  return plain.length <= length ? plain : `${plain.slice(0, length)}…`;
}
