import { describe, expect, it } from 'vitest';
import { factWords, inPlainWords } from '../../src/replay/fact.words.ts';

const lost = (failure: object) => ({ type: 'SessionLost', data: { failure } });

describe('A failure in plain words', () => {
  it.each<[failure: object, words: string]>([
    [
      { class: 'exit', message: 'watch: the process exited with code 3', exitCode: 3 },
      'exit: watch: the process exited with code 3',
    ],
    [
      { class: 'exit', message: 'watch: the process is gone', exitCode: 3 },
      'exit: watch: the process is gone (exit 3)',
    ],
    [{ class: 'exit', message: 'code 33', exitCode: 3 }, 'exit: code 33 (exit 3)'],
    [{ class: 'exit', message: 'ended by SIGKILL', signal: 'SIGKILL' }, 'exit: ended by SIGKILL'],
    [{ class: 'exit', message: 'ended', signal: 'SIGKILL' }, 'exit: ended (SIGKILL)'],
    [
      { class: 'http-status', message: 'it answered HTTP 502: no', httpStatus: 502 },
      'http-status: it answered HTTP 502: no',
    ],
    [
      { class: 'http-status', message: 'it answered 5020', httpStatus: 502 },
      'http-status: it answered 5020 (HTTP 502)',
    ],
  ])('of %j says nothing twice', (failure, words) => {
    expect(factWords(lost(failure))).toBe(words);
  });

  it('begins with what happened', () => {
    expect(inPlainWords(lost({ class: 'exit', message: 'exit: gone' }))).toBe('the connection was lost: exit: gone');
    expect(inPlainWords({ type: 'Connected', data: { protocolVersion: '2025-11-25', tookMs: 5 } })).toBe(
      'connected: protocol 2025-11-25, after 5 ms',
    );
  });
});
