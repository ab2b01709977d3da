/** The table of verdicts, a row of symptoms each. */
import { describe, expect, it } from 'vitest';
import { blankLimits } from '../../src/actors/server/server.state.ts';
import type { Failure } from '../../src/events/shapes.ts';
import type { Hint } from '../../src/replay/correlation.ts';
import { fingerprintOf } from '../../src/replay/fingerprint.ts';
import type { SeenFailure } from '../../src/replay/past.ts';
import type { ServerSummary } from '../../src/replay/summary.ts';
import { type Check, type Symptoms, verdictOf } from '../../src/replay/verdict.ts';
import { died, notFound, refused401 } from '../support/server.facts.ts';

const none = { count: 0, p50: null, p90: null, p99: null };
const MINUTE = 60_000;

const summary = (over: Partial<ServerSummary> = {}): ServerSummary => ({
  server: 'a',
  from: 0,
  to: 10 * MINUTE,
  facts: 9,
  state: 'ready',
  time: { ready: 9 * MINUTE, down: MINUTE, resting: 0, unobserved: 0 },
  availability: 0.9,
  starts: 1,
  losses: 0,
  failedAttempts: 0,
  listFailures: 0,
  mtbf: null,
  mttr: null,
  repairs: 0,
  failingSince: null,
  flapScore: 0,
  latency: { connect: none, list: none, call: none },
  failures: [],
  hints: [],
  ...over,
});

const seen = (failure: Failure, count: number, last = 40): SeenFailure => ({
  ...fingerprintOf(failure),
  count,
  first: { at: 1_000, position: 12 },
  last: { at: 9_000, position: last },
  positions: [12, last],
  example: failure.message,
});

const hint = (over: Partial<Hint> & Pick<Hint, 'kind'>): Hint => ({
  text: `what ${over.kind} says`,
  support: 14,
  of: 15,
  chance: 1e-9,
  positions: [30, 40],
  related: [],
  fingerprint: null,
  ...over,
});

const well: Symptoms = {
  name: 'a',
  watched: true,
  now: 10 * MINUTE,
  state: 'ready',
  since: 4 * MINUTE,
  tools: 3,
  transport: 'stdio',
  error: null,
  problem: null,
  limits: blankLimits,
  lastFailure: null,
  summary: summary(),
  noise: [],
  checks: [{ name: 'command', ok: true, detail: 'found', next: null }],
};

const bad = (name: string): Check => ({ name, ok: false, detail: `${name} is wrong`, next: `mend ${name}` });
const failedWith = (failure: Failure): Partial<Symptoms> => ({
  error: failure,
  lastFailure: { at: 9_000, position: 40, failure },
});
const exited = (exitCode: number, stderrTail = ''): Failure => ({ ...died, exitCode, stderrTail });
const timedOut: Failure = {
  class: 'timeout',
  phase: 'initialize',
  message: 'initialize: no answer within 30000 ms (connectTimeoutMs)',
};
const forgotten: Failure = {
  class: 'session',
  phase: 'watch',
  message: 'watch: the server does not know the session any more',
  httpStatus: 404,
};
const status = (httpStatus: number): Failure => ({
  class: 'http-status',
  phase: 'initialize',
  message: `initialize: HTTP ${httpStatus}`,
  httpStatus,
});
const heard = [{ at: 8_000, text: 'wrote a line to stdout that is not protocol: hello' }];
const connects = (p90: number) => ({ connect: { count: 5, p50: 9_000, p90, p99: p90 }, list: none, call: none });
const calls = (count: number) => ({ connect: none, list: none, call: { ...none, count } });
const lossesOf = (failure: Failure, more: Partial<ServerSummary> = {}): ServerSummary =>
  summary({ losses: 15, repairs: 15, mttr: 300, failures: [seen(failure, 15)], ...more });

type Row = readonly [kind: string, ok: boolean, confidence: string, symptoms: Partial<Symptoms>];

describe('The verdict', () => {
  it.each<Row>([
    ['disabled', true, 'high', { state: 'disabled', summary: lossesOf(died), checks: [bad('command')] }],
    [
      'entry-error',
      false,
      'high',
      { state: 'failed', problem: { field: 'url', message: 'url must be a whole address' } },
    ],
    ['command-missing', false, 'high', { state: 'failed', checks: [bad('command')], ...failedWith(notFound) }],
    ['command-missing', false, 'medium', { state: 'idle', checks: [bad('command')] }],
    [
      'folder-missing',
      false,
      'high',
      { state: 'failed', checks: [bad('cwd'), bad('script')], ...failedWith(notFound) },
    ],
    ['script-missing', false, 'high', { state: 'backing-off', checks: [bad('script')], ...failedWith(died) }],
    ['runtime-unfit', false, 'high', { state: 'backing-off', checks: [bad('runtime')], ...failedWith(died) }],
    ['login-wanted', false, 'high', { state: 'auth-required', ...failedWith(refused401) }],
    ['host-unknown', false, 'medium', { state: 'connecting', checks: [bad('host'), bad('port')] }],
    [
      'port-closed',
      false,
      'high',
      { state: 'backing-off', checks: [bad('port')], ...failedWith({ ...died, class: 'transport' }) },
    ],
    [
      'certificate',
      false,
      'high',
      { state: 'backing-off', checks: [bad('certificate')], ...failedWith({ ...died, class: 'transport' }) },
    ],
    ['not-protocol', false, 'high', { state: 'backing-off', noise: heard, ...failedWith(timedOut) }],
    ['not-protocol', false, 'medium', { state: 'connecting', noise: heard }],
    ['noisy-stdout', true, 'high', { noise: heard }],
    ['wrong-address', false, 'medium', { state: 'backing-off', ...failedWith(status(404)) }],
    ['server-broken', false, 'high', { state: 'backing-off', ...failedWith(status(502)) }],
    ['overload', false, 'high', { state: 'backing-off', ...failedWith({ ...status(429), class: 'overload' }) }],
    ['slow-start', true, 'high', { summary: summary({ latency: connects(27_000) }) }],
    ['slow-start', false, 'high', { summary: summary({ latency: connects(27_000), failures: [seen(timedOut, 2)] }) }],
    [
      'no-handshake',
      false,
      'medium',
      { state: 'backing-off', ...failedWith(timedOut), summary: summary({ failures: [seen(timedOut, 4)] }) },
    ],
    [
      'crashes-on-call',
      false,
      'high',
      { summary: lossesOf(died, { hints: [hint({ kind: 'around-call', tool: 'render' })] }) },
    ],
    [
      'crashes-on-call',
      false,
      'medium',
      { summary: lossesOf(died, { hints: [hint({ kind: 'around-call', tool: 'render', support: 6 })] }) },
    ],
    [
      'session-forgotten',
      true,
      'high',
      { summary: lossesOf(forgotten, { hints: [hint({ kind: 'after-connecting', ms: 30 * MINUTE })] }) },
    ],
    ['session-forgotten', true, 'medium', { summary: lossesOf(forgotten) }],
    ['session-forgotten', false, 'medium', { summary: lossesOf(forgotten, { mttr: 90_000 }) }],
    [
      'idle-timeout',
      false,
      'high',
      { summary: lossesOf(died, { hints: [hint({ kind: 'after-idle', ms: 10 * MINUTE })], latency: calls(40) }) },
    ],
    [
      'idle-timeout',
      false,
      'high',
      { summary: lossesOf(exited(0), { hints: [hint({ kind: 'after-connecting', ms: MINUTE })] }) },
    ],
    [
      'idle-timeout',
      false,
      'medium',
      { summary: lossesOf(died, { hints: [hint({ kind: 'after-connecting', ms: MINUTE })] }) },
    ],
    [
      'fixed-life',
      false,
      'high',
      { summary: lossesOf(died, { hints: [hint({ kind: 'after-connecting', ms: MINUTE })], latency: calls(9) }) },
    ],
    ['rhythm', false, 'high', { summary: lossesOf(died, { hints: [hint({ kind: 'rhythm', ms: MINUTE })] }) }],
    ['since-change', false, 'medium', { summary: lossesOf(died, { hints: [hint({ kind: 'since-entry-change' })] }) }],
    ['since-change', false, 'medium', { summary: lossesOf(died, { hints: [hint({ kind: 'since-server-version' })] }) }],
    ['linked', false, 'medium', { summary: lossesOf(died, { hints: [hint({ kind: 'after-list-change' })] }) }],
    [
      'out-of-memory',
      false,
      'high',
      { state: 'backing-off', ...failedWith(exited(134, 'FATAL ERROR: JavaScript heap out of memory')) },
    ],
    ['killed', false, 'low', { state: 'backing-off', ...failedWith({ ...died, exitCode: null, signal: 'SIGKILL' }) }],
    [
      'crash-loop',
      false,
      'high',
      { state: 'backing-off', ...failedWith(died), summary: summary({ failures: [seen(died, 5)] }) },
    ],
    [
      'crashed',
      false,
      'medium',
      { state: 'reconnecting', ...failedWith(died), summary: summary({ failures: [seen(died, 1)] }) },
    ],
    ['list-fails', false, 'high', { error: { class: 'timeout', message: 'list: no answer' } }],
    ['unwatched', true, 'low', { watched: false }],
    ['down', false, 'medium', { state: 'backing-off', ...failedWith({ ...died, class: 'transport' }) }],
    ['starting', true, 'medium', { state: 'connecting' }],
    ['flapping', false, 'low', { summary: lossesOf(died, { flapScore: 70 }) }],
    ['recovered', true, 'high', { summary: lossesOf(died, { losses: 1, flapScore: 10 }) }],
    ['well', true, 'high', {}],
    ['well', true, 'high', { summary: null }],
    ['asleep', true, 'high', { state: 'idle' }],
    ['unknown', true, 'low', { state: 'stopped' }],
  ])('is %s (ok %s, %s)', (kind, ok, confidence, symptoms) => {
    const { verdict } = verdictOf({ ...well, ...symptoms });
    expect(verdict).toMatchObject({ kind, ok, confidence });
    expect(verdict.verdict.length).toBeGreaterThan(5);
    expect(verdict.why.length).toBeGreaterThan(0);
    if (!ok) expect(verdict.advice.length).toBeGreaterThan(0);
  });

  const told = (symptoms: Partial<Symptoms>) => verdictOf({ ...well, ...symptoms }).verdict;

  it('of a slow start names both numbers and the setting', () => {
    const { verdict, advice } = told({
      summary: summary({ latency: connects(27_000), failures: [seen(timedOut, 2)] }),
    });
    expect(verdict).toBe('starts slowly: connects at p90 27 s against a limit of 30 s');
    expect(advice[0]?.setting).toBe('"connectTimeoutMs": 60000');
  });

  it('of an idle timeout names its length, and settings that are shorter', () => {
    const { verdict, advice, evidence } = told({
      summary: lossesOf(exited(0), { hints: [hint({ kind: 'after-connecting', ms: MINUTE })] }),
    });
    expect(verdict).toBe("ends about 60 s after each start without work: an idle timeout on the server's side");
    expect(advice.map(({ setting }) => setting)).toEqual(['"lazy": true', '"idleStopMs": 48000']);
    expect(evidence.map(({ position }) => position)).toEqual([30, 40]);
  });

  it('of forgotten sessions says that they are renewed and how often', () => {
    const { verdict } = told({
      summary: lossesOf(forgotten, { hints: [hint({ kind: 'after-connecting', ms: 30 * MINUTE })] }),
    });
    expect(verdict).toBe('the server forgets its session every 30 m, renewed each time, no harm');
  });

  it('of a variable that is not set names the variable and where to set it', () => {
    const { advice } = told({
      state: 'failed',
      problem: { field: 'env.TOKEN', message: 'env.TOKEN needs the variable GITHUB_TOKEN, which is not set' },
    });
    expect(advice[0]?.text).toContain('Set GITHUB_TOKEN');
    expect(advice[1]?.command).toBe('watchkeeper config check');
  });

  it('rests on rows: the failures or losses it is about', () => {
    const { evidence } = told({
      state: 'backing-off',
      ...failedWith(died),
      summary: summary({ failures: [seen(died, 5)] }),
    });
    expect(evidence.map(({ position }) => position)).toEqual([12, 40]);
  });

  it('that something is wrong comes before one that nothing is; the other one is not lost', () => {
    const found = verdictOf({ ...well, noise: heard, error: { class: 'timeout', message: 'list: no answer' } });
    expect(found.verdict.kind).toBe('list-fails');
    expect(found.also.map(({ kind }) => kind)).toEqual(['noisy-stdout']);
  });

  it('without a daemon still says what the log and the files tell', () => {
    const found = told({
      watched: false,
      state: 'backing-off',
      ...failedWith(died),
      summary: summary({ failures: [seen(died, 5)] }),
    });
    expect(found.kind).toBe('crash-loop');
    expect(told({ watched: false, state: 'ready', checks: [bad('command')] }).kind).toBe('command-missing');
  });
});
