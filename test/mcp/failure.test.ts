import { describe, expect, it } from 'vitest';
import { failure as failureShape, type Phase } from '../../src/events/shapes.ts';
import {
  classify,
  errorRefusesSession,
  failureOf,
  meansOldTransport,
  type Observation,
  type Refusal,
  refusesSession,
  retryAfter,
  rpcErrorIn,
  snippet,
} from '../../src/mcp/failure.ts';
import { redactor } from '../../src/mcp/redact.ts';

const target = 'http://host/mcp';
const status = (code: number, more: Partial<Refusal> = {}): Refusal => ({
  seen: 'status',
  status: code,
  target,
  challenge: null,
  retryAfterMs: null,
  location: null,
  text: '',
  ...more,
});
const spawn = (code: string, wrong: 'command' | 'cwd' | 'interpreter' = 'command'): Observation => ({
  seen: 'spawn-error',
  code,
  wrong,
  value: 'tool',
});
const network = (code: string): Observation => ({ seen: 'network', code, target });
const exit = (exitCode: number | null, signal: string | null, stderrTail = ''): Observation => ({
  seen: 'exit',
  exitCode,
  signal,
  stderrTail,
});

describe('classify', () => {
  const table: [Observation, Phase, string, RegExp][] = [
    // What a person must change waits for a person.
    [spawn('ENOENT'), 'spawn', 'spawn', /^spawn: command not found: tool \(install it/],
    [spawn('ENOTDIR'), 'spawn', 'spawn', /command not found/],
    [spawn('EACCES'), 'spawn', 'spawn', /tool may not be executed \(EACCES\)/],
    [spawn('EPERM'), 'spawn', 'spawn', /tool may not be executed \(EPERM\)/],
    [spawn('ENOEXEC'), 'spawn', 'spawn', /not a program/],
    [spawn('E2BIG'), 'spawn', 'spawn', /too long/],
    [spawn('ENOENT', 'interpreter'), 'spawn', 'spawn', /interpreter named in the first line of tool/],
    [spawn('ENOENT', 'cwd'), 'spawn', 'spawn', /folder in "cwd" does not exist: tool/],
    [spawn('ENOTDIR', 'cwd'), 'spawn', 'spawn', /folder in "cwd" is not a folder: tool/],
    [spawn('EACCES', 'cwd'), 'spawn', 'spawn', /folder in "cwd" may not be entered: tool/],
    [spawn('ELOOP'), 'spawn', 'spawn', /could not be started \(ELOOP\)/],
    [spawn('ERR_INVALID_ARG_VALUE'), 'spawn', 'spawn', /could not be started/],
    // What passes is tried again.
    ...['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOBUFS', 'ETXTBSY'].map(
      (code): [Observation, Phase, string, RegExp] => [
        spawn(code),
        'spawn',
        'overload',
        new RegExp(`no room for another process just now \\(${code}\\)`),
      ],
    ),
    [spawn('EMFILE', 'cwd'), 'spawn', 'overload', /no room/],

    [
      exit(1, null, 'Traceback\nKeyError: x\n'),
      'initialize',
      'exit',
      /^initialize: the process exited with code 1: KeyError: x$/,
    ],
    [exit(0, null), 'watch', 'exit', /^watch: the process exited with code 0$/],
    [exit(null, 'SIGKILL'), 'watch', 'exit', /was ended by SIGKILL/],
    [exit(null, 'SIGSEGV', '\n\n'), 'call', 'exit', /^call: the process was ended by SIGSEGV$/],
    [{ seen: 'pipe-closed', pipe: 'stdout', stderrTail: '' }, 'watch', 'transport', /closed its stdout/],

    [network('ECONNREFUSED'), 'connect', 'transport', /^connect: http:\/\/host\/mcp: nothing listens there/],
    [network('ECONNRESET'), 'connect', 'transport', /reset/],
    [network('EPIPE'), 'call', 'transport', /closed while writing/],
    [network('EHOSTUNREACH'), 'connect', 'transport', /host cannot be reached/],
    [network('ENETUNREACH'), 'connect', 'transport', /network cannot be reached/],
    [network('ENOTFOUND'), 'connect', 'transport', /host name is not known/],
    [network('EAI_AGAIN'), 'connect', 'transport', /DNS/],
    [network('ETIMEDOUT'), 'connect', 'timeout', /timed out/],
    [network('ESOCKETTIMEDOUT'), 'connect', 'timeout', /timed out/],
    [network('CERT_HAS_EXPIRED'), 'connect', 'transport', /certificate has expired/],
    [network('DEPTH_ZERO_SELF_SIGNED_CERT'), 'connect', 'transport', /self-signed/],
    [network('SELF_SIGNED_CERT_IN_CHAIN'), 'connect', 'transport', /NODE_EXTRA_CA_CERTS/],
    [network('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'connect', 'transport', /cannot be verified/],
    [network('ERR_TLS_CERT_ALTNAME_INVALID'), 'connect', 'transport', /another host name/],
    [network('ERR_SSL_WRONG_VERSION_NUMBER'), 'connect', 'transport', /TLS failed \(ERR_SSL_WRONG_VERSION_NUMBER\)/],
    [network('EPROTO'), 'connect', 'transport', /TLS failed/],
    [network('HPE_INVALID_CONSTANT'), 'connect', 'protocol', /not HTTP/],
    [network('ERR_INVALID_URL'), 'connect', 'config', /URL cannot be used/],
    [network('ERR_INVALID_PROTOCOL'), 'connect', 'config', /URL cannot be used/],
    [network('ERR_INVALID_CHAR'), 'connect', 'config', /header/],
    [network('EMFILE'), 'connect', 'overload', /no more room/],
    [network('ESOMETHING'), 'connect', 'transport', /connection failed \(ESOMETHING\)/],

    [status(401), 'connect', 'auth', /answered HTTP 401: it wants a login/],
    [status(401, { challenge: 'Bearer' }), 'call', 'auth', /^call: /],
    [status(403, { challenge: 'Bearer error="insufficient_scope"' }), 'connect', 'auth', /HTTP 403/],
    [status(403), 'connect', 'http-status', /HTTP 403/],
    [status(404), 'connect', 'http-status', /HTTP 404$/],
    [status(408), 'connect', 'http-status', /HTTP 408/],
    [
      status(405, { text: '<html><h1>Method Not Allowed</h1></html>' }),
      'connect',
      'http-status',
      /HTTP 405: Method Not Allowed$/,
    ],
    [status(429), 'connect', 'overload', /HTTP 429/],
    [status(429, { retryAfterMs: 7_000 }), 'connect', 'overload', /HTTP 429/],
    [status(529), 'connect', 'overload', /HTTP 529/],
    [status(503, { retryAfterMs: 7_000 }), 'connect', 'overload', /HTTP 503/],
    [status(503), 'connect', 'http-status', /HTTP 503/],
    [
      status(500, { text: '{"error":{"code":-32603,"message":"out of cheese"}}' }),
      'connect',
      'http-status',
      /HTTP 500: out of cheese$/,
    ],
    [status(502), 'list', 'http-status', /^list: .* HTTP 502/],
    [
      status(307, { location: 'https://other/mcp' }),
      'connect',
      'http-status',
      /redirects to another place are not followed; use https:\/\/other\/mcp/,
    ],

    [
      { seen: 'session-refused', status: 404, text: 'Session not found' },
      'call',
      'session',
      /does not know the session any more \(Session not found\)/,
    ],
    [{ seen: 'session-refused', status: null, text: '' }, 'list', 'session', /any more$/],
    [{ seen: 'stream-ended', target }, 'watch', 'transport', /event stream ended/],
    [
      { seen: 'rpc-error', code: -32603, message: 'no' },
      'initialize',
      'handshake',
      /^initialize: the server answered with error -32603: no$/,
    ],
    [{ seen: 'rpc-error', code: -32603, message: 'no' }, 'list', 'protocol', /^list: /],
    [{ seen: 'handshake', detail: 'version 1 is not supported' }, 'initialize', 'handshake', /version 1/],
    [{ seen: 'unparsable', detail: 'nonsense' }, 'list', 'protocol', /^list: nonsense$/],
    [{ seen: 'time-limit' }, 'initialize', 'timeout', /^initialize: no answer within the time limit$/],
    [{ seen: 'time-limit', stderrTail: 'loading\n' }, 'initialize', 'timeout', /time limit: loading$/],
    [{ seen: 'daemon', detail: 'the log is full' }, 'spawn', 'overload', /the log is full/],
  ];

  it.each(table)('%j in %s is %s', (observation, phase, kind, message) => {
    const failure = classify(phase, observation);
    expect(failure).toMatchObject({ class: kind, phase });
    expect(failure.message).toMatch(message);
    expect(failure.message.startsWith(`${phase}: `)).toBe(true);
    expect(failureShape.parse(failure)).toEqual(failure);
  });

  it('keeps what a machine wants to know', () => {
    expect(classify('watch', exit(3, null, 'bye\n'))).toMatchObject({ exitCode: 3, signal: null, stderrTail: 'bye\n' });
    expect(classify('connect', status(429, { retryAfterMs: 5 }))).toMatchObject({ httpStatus: 429, retryAfterMs: 5 });
    expect(classify('connect', status(500, { retryAfterMs: 5 }))).toMatchObject({
      class: 'http-status',
      retryAfterMs: 5,
    });
    expect(classify('connect', status(500))).not.toHaveProperty('retryAfterMs');
  });
});

describe('failureOf', () => {
  it('masks secrets before text is cut to length, so that no part of one is left', () => {
    const secret = 'S'.repeat(30);
    const long = `${'x'.repeat(185)} ${secret} and more`;
    const failure = failureOf('connect', status(500, { text: long }), redactor([secret]));
    expect(failure.message).toContain('***');
    expect(failure.message).not.toContain('SS');
  });

  it('masks the stderr tail and the value it names', () => {
    expect(failureOf('watch', exit(1, null, 'token tok-123\n'), redactor(['tok-123']))).toMatchObject({
      stderrTail: 'token ***\n',
      message: 'watch: the process exited with code 1: token ***',
    });
    expect(
      failureOf(
        'spawn',
        { seen: 'spawn-error', code: 'ENOENT', wrong: 'command', value: '/opt/tok-123' },
        redactor(['tok-123']),
      ).message,
    ).toContain('/opt/***');
  });
});

describe('a refused session', () => {
  it.each([
    [404, '', true, true],
    [404, '<html>anything</html>', true, true],
    [404, '', false, false],
    [404, 'Session not found', false, true],
    [400, 'Bad Request: No valid session ID provided', false, true],
    [400, '{"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}', true, true],
    [400, 'Mcp-Session-Id header is required', true, true],
    [400, 'Bad Request: Server has not been initialized', true, true],
    [400, 'Server not yet initialised', true, true],
    [400, 'Missing argument: path', true, false],
    [401, 'session expired', true, false],
    [500, 'session store is down', true, false],
    [410, 'gone', true, false],
  ])('status %i with %j, session sent: %s → %s', (code, text, carried, refused) => {
    expect(refusesSession(code, text, carried)).toBe(refused);
  });

  it.each([
    [-32001, 'Session not found', true],
    [-32000, 'Invalid or expired session ID', true],
    [-32000, 'Bad Request: Server not initialized', true],
    [-32600, 'Invalid session ID', true],
    [-32000, 'Bad Request: Mcp-Session-Id header is required', true],
    [-32600, 'Session expired', true],
    [-32000, 'No valid session ID provided', true],
    [-32603, 'Session not found', false],
    [-32000, 'The browser session expired while loading the page', false],
    [-32000, 'Could not open a database session', false],
    [-32602, 'Invalid session ID', false],
  ])('JSON-RPC error %i %j → %s', (code, message, refused) => {
    expect(errorRefusesSession(code, message)).toBe(refused);
  });
});

describe('small readings', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');

  it.each([
    ['7', 7_000],
    [' 0 ', 0],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['99999999999', 86_400_000],
    ['soon', null],
    ['-5', null],
    [undefined, null],
  ])('Retry-After %j is %j ms', (value, ms) => {
    // `-5` is a date to some parsers; whatever it is, it is not a pause into the past.
    expect(retryAfter(value, now) || null).toBe(ms || null);
  });

  it.each([400, 404, 405, 406, 410, 415, 422])('HTTP %i on the first POST may mean the older transport', (code) => {
    expect(meansOldTransport(code)).toBe(true);
  });

  it.each([200, 301, 401, 403, 407, 408, 425, 429, 500, 502, 503])('HTTP %i does not', (code) => {
    expect(meansOldTransport(code)).toBe(false);
  });

  it('finds a JSON-RPC error in a body', () => {
    expect(rpcErrorIn('{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no","data":[1]}}')).toEqual({
      code: -32601,
      message: 'no',
      data: [1],
    });
    expect(rpcErrorIn('{"error":"invalid_token"}')).toBeNull();
    expect(rpcErrorIn('<html>')).toBeNull();
    expect(rpcErrorIn('null')).toBeNull();
  });

  it('shows foreign text as one short line without markup and control characters', () => {
    expect(snippet('<html><style>p{}</style><p>Not\u001b[31m\n\nFound</p></html>')).toBe('Not Found');
    expect(snippet('x'.repeat(300))).toHaveLength(201);
  });
});
