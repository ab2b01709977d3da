/**
 * Every answer that is not a success: a closed set of kinds, each with a page in `docs/errors`.
 * A code is public and is never used again for something else.
 */

interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** What to do, for a person. */
  readonly next: string;
}

export const problems = {
  'invalid-request': {
    status: 400,
    title: 'The request does not fit the route',
    next: 'Correct what `detail` names; `/docs` shows the shape of every route.',
  },
  'entry-invalid': {
    status: 400,
    title: 'The server entry cannot be used',
    next: 'Correct the field that `detail` names and send the entry again.',
  },
  'prefix-invalid': {
    status: 400,
    title: 'The prefix is not that of one server',
    next: 'Use `mcp__<server>__` as the prefix and let every entry begin with it.',
  },
  unauthorized: {
    status: 401,
    title: 'The token is missing or wrong',
    next: 'Send `Authorization: Bearer <token>`; `watchkeeper token` prints the token.',
  },
  'forbidden-host': {
    status: 403,
    title: 'The request names a host the daemon does not answer for',
    next: 'Use the `url` in `daemon.json`, or add the name to `http.allowedHosts`.',
  },
  'forbidden-origin': {
    status: 403,
    title: 'The request comes from a web page of another origin',
    next: 'Call the daemon from a program, or from a page of one of `http.allowedHosts`.',
  },
  'forbidden-client': {
    status: 403,
    title: 'The token of a client is not enough for this',
    next: "Use the daemon's own token; `watchkeeper token` prints it.",
  },
  'mode-above-ceiling': {
    status: 403,
    title: 'The token may not ask for this permission mode',
    next: 'Ask for a lower mode, or use a token with a higher ceiling.',
  },
  'call-refused': {
    status: 403,
    title: 'A rule refused the call',
    next: 'Grant the tool (`watchkeeper allow`), or call in mode `ask` so that a person can decide.',
  },
  'call-denied': {
    status: 403,
    title: 'A person denied the call',
    next: 'Do not repeat the call as it is; ask the person who denied it.',
  },
  'call-expired': {
    status: 403,
    title: 'Nobody approved the call in time',
    next: 'Call again and approve it with `watchkeeper approvals`, or grant the tool.',
  },
  'not-found': {
    status: 404,
    title: 'There is no such route',
    next: 'Look the route up at `/docs`.',
  },
  'unknown-server': {
    status: 404,
    title: 'No server has this name',
    next: 'See the configured names with `watchkeeper status`.',
  },
  'unknown-tool': {
    status: 404,
    title: 'No tool has this name',
    next: 'See the registered names with `watchkeeper tools`.',
  },
  'unknown-call': {
    status: 404,
    title: 'No call has this id',
    next: 'See the latest calls at `GET /v1/mcp/calls`.',
  },
  'not-recorded': {
    status: 404,
    title: 'Nothing of this server was recorded',
    next: 'Begin with `watchkeeper record <server> on`, let it happen, and ask again.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'The route does not take this method',
    next: 'Use one of the methods in the `Allow` header.',
  },
  'call-not-held': {
    status: 409,
    title: 'The call has already been decided',
    next: 'Read how it ended at `GET /v1/mcp/calls/<id>`.',
  },
  'call-not-open': {
    status: 409,
    title: 'The call needs no closing',
    next: 'See the ones that do with `watchkeeper ledger --open`.',
  },
  'call-cancelled': {
    status: 409,
    title: 'The call was cancelled',
    next: 'Look at `outcome`: `cancelled` never ran; `unknown` may have run.',
  },
  'oauth-not-enabled': {
    status: 409,
    title: 'The server is not one to log in to',
    next: 'Set `"auth": "oauth"` in its entry, then log in with `watchkeeper login <server>`.',
  },
  'no-login-waiting': {
    status: 409,
    title: 'No login of the server waits',
    next: 'Start one with `watchkeeper login <server>`, and use the address it gives.',
  },
  'server-disabled': {
    status: 409,
    title: 'The server is disabled',
    next: 'Enable it with `watchkeeper enable <server>`.',
  },
  'server-built-in': {
    status: 409,
    title: 'The server is built into the daemon',
    next: 'Set `self` to false in `watchkeeper.json` and start the daemon anew to be without it.',
  },
  'config-invalid': {
    status: 409,
    title: 'The configuration file cannot be parsed',
    next: 'Correct the file at the line that `detail` names; until then it cannot be edited from here.',
  },
  'config-locked': {
    status: 409,
    title: 'Another program is writing the configuration file',
    next: 'Try again; if it stays so, remove the lock file that `detail` names.',
  },
  'body-too-large': {
    status: 413,
    title: 'The body is too large',
    next: 'Send at most 4 MiB.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The body is not declared as JSON',
    next: 'Send JSON with `Content-Type: application/json`.',
  },
  internal: {
    status: 500,
    title: 'The daemon made a mistake',
    next: "Look at the daemon's log and report what it says.",
  },
  'call-rejected': {
    status: 502,
    title: 'The server rejected the call',
    next: 'Correct the call as `detail` says; the tool did not run.',
  },
  'server-lost': {
    status: 502,
    title: 'The server was lost before it answered',
    next: 'Find out whether the call took effect before you repeat it.',
  },
  'config-unreadable': {
    status: 503,
    title: 'The configuration file cannot be read or written',
    next: 'Check owner, mode and free space of the file that `detail` names.',
  },
  'credentials-unavailable': {
    status: 503,
    title: 'The store of credentials cannot be used',
    next: 'Unlock the keychain or put right what `detail` names; see `oauth.store` in the settings.',
  },
  'log-unavailable': {
    status: 503,
    title: 'The log cannot be written',
    next: 'Check free space and permissions of the data directory; nothing runs that cannot be written down.',
  },
  'recording-unavailable': {
    status: 503,
    title: 'The recording cannot be written',
    next: 'Check free space and permissions of `recordings` in the data directory, then switch it on again.',
  },
  'server-not-connected': {
    status: 503,
    title: 'The server is not connected',
    next: 'See the reason with `watchkeeper status <server>`; the call did not run and may be repeated.',
  },
  'shutting-down': {
    status: 503,
    title: 'The daemon is ending',
    next: 'Start it again with `watchkeeper up`.',
  },
  'call-timeout': {
    status: 504,
    title: 'The server did not answer within the time limit',
    next: 'Find out whether the call took effect; raise `timeout_ms` or `callTimeoutMs` if it needs longer.',
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof problems;

/** What is sent as `application/problem+json`; further members stand beside these. */
export interface ProblemBody {
  readonly type: string;
  readonly code: ProblemCode;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly error: string;
  readonly next: string;
  readonly [member: string]: unknown;
}

/**
 * Thrown by whatever cannot do what was asked. `detail` is one or two sentences for a person: what is wrong with what
 * was sent and, where the catalogue's advice is too general, what to do. It never holds a secret value.
 * `members` are added to the body, for example `{call, outcome}`.
 */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly title: string;

  constructor(
    readonly type: ProblemCode,
    readonly detail: string,
    readonly members: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(detail, options);
    this.status = problems[type].status;
    this.title = problems[type].title;
  }

  body(): ProblemBody {
    return {
      ...this.members,
      type: `/docs/errors/${this.type}`,
      code: this.type,
      title: this.title,
      status: this.status,
      detail: this.detail,
      error: this.detail,
      next: problems[this.type].next,
    };
  }
}

export const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(problems, code);
