import { describe, expect, it } from 'vitest';
import type { Failure } from '../../src/events/shapes.ts';
import { fingerprintOf, normalised } from '../../src/replay/fingerprint.ts';

const exit: Failure = { class: 'exit', phase: 'watch', message: 'watch: the process exited with code 1', exitCode: 1 };

describe('A failure without what changes', () => {
  it.each([
    ['no answer within 30000 ms', 'no answer within <n> ms'],
    ['took 1.5 s, 12,000 rows', 'took <n> s, <n> rows'],
    ['at 2026-03-01T12:00:00.123Z it died', 'at <time> it died'],
    ['[2026-03-01 12:00:00,123] ERROR: no', '[<time>] ERROR: no'],
    ['12:30:59 warn', '<time> warn'],
    ['session 123e4567-e89b-12d3-a456-426614174000 unknown', 'session <uuid> unknown'],
    ['at 0x7fff5fbff8c0 in main', 'at <hex> in main'],
    ['commit 1c4ed79abc is bad', 'commit <hex> is bad'],
    ['cannot open /var/lib/app-1/data.db: gone', 'cannot open <path>: gone'],
    ['cannot open C:\\Users\\me\\app.exe', 'cannot open <path>'],
    ['request req_8Zk2jQm4Ww91xYtB failed', 'request <id> failed'],
    ['http://127.0.0.1:3000/mcp answered HTTP 404', 'http://<n>:<n>/mcp answered HTTP <n>'],
    ['pid 42 (worker-7)\n  died', 'pid <n> (worker-<n>) died'],
    ['connection refused', 'connection refused'],
    ['utf8 and sha256 and HTTP/2 stay words', 'utf8 and sha256 and HTTP/<n> stay words'],
    ['decade facade', 'decade facade'],
  ])('%j becomes %j', (message, plain) => {
    expect(normalised(message)).toBe(plain);
  });

  it('is cut, however long the message is', () => {
    for (const letter of ['a', '0', '/', 'a0', '/a', '-', '\\']) {
      expect(normalised(letter.repeat(500_000)).length).toBeLessThanOrEqual(300);
    }
  });
});

describe('Two failures', () => {
  it.each<[string, Partial<Failure>, boolean]>([
    ['another number', { message: 'watch: the process exited with code 9' }, true],
    ['another tail of stderr', { stderrTail: 'other' }, true],
    ['another phase', { phase: 'list' }, false],
    ['another class', { class: 'transport' }, false],
    ['another exit code', { exitCode: 2 }, false],
    ['a signal', { exitCode: null, signal: 'SIGKILL' }, false],
    ['other words', { message: 'watch: the process fell over' }, false],
  ])('with %s: the same is %s', (_what, other, same) => {
    expect(fingerprintOf(exit).id === fingerprintOf({ ...exit, ...other }).id).toBe(same);
  });

  it('are told apart by HTTP status, which is shown', () => {
    const answered = (httpStatus: number): Failure => ({
      class: 'http-status',
      phase: 'initialize',
      message: `initialize: it answered HTTP ${httpStatus}`,
      httpStatus,
    });
    const [one, other] = [fingerprintOf(answered(404)), fingerprintOf(answered(500))];
    expect(one.id).not.toBe(other.id);
    expect([one.message, one.code, other.code]).toEqual(['initialize: it answered HTTP <n>', 'HTTP 404', 'HTTP 500']);
    expect(one.id).toMatch(/^[0-9a-f]{8}$/);
  });
});
