import { describe, expect, it } from 'vitest';
import { terminalOf } from '../../src/cli/terminal.ts';

const tty = { stdin: { isTTY: true }, stdout: { isTTY: true, columns: 100 }, stderr: { isTTY: true } };
const pipe = { stdin: {}, stdout: {}, stderr: {} };

describe('what may be done with the streams', () => {
  it.each([
    ['a terminal', tty, {}, { color: true, width: 100, live: true, asks: true }],
    ['a pipe', pipe, {}, { color: false, errorColor: false, width: undefined, live: false, asks: false }],
    ['NO_COLOR', tty, { NO_COLOR: '1' }, { color: false, live: true }],
    ['an empty NO_COLOR means nothing', tty, { NO_COLOR: '' }, { color: true }],
    ['FORCE_COLOR in a pipe', pipe, { FORCE_COLOR: '1' }, { color: true, live: false }],
    ['FORCE_COLOR=0 on a terminal', tty, { FORCE_COLOR: '0' }, { color: false }],
    ['FORCE_COLOR against NO_COLOR', tty, { FORCE_COLOR: '1', NO_COLOR: '1' }, { color: true }],
    ['CI with a terminal', tty, { CI: 'true' }, { color: false, live: false, asks: false }],
    ['CI=false is no CI', tty, { CI: 'false' }, { color: true, asks: true }],
    ['a dumb terminal', tty, { TERM: 'dumb' }, { color: false, live: false }],
    [
      'only stdout is a pipe',
      { ...tty, stdout: {} },
      {},
      { color: false, errorColor: true, width: undefined, live: false, asks: true },
    ],
    ['a terminal that does not say how wide it is', { ...tty, stdout: { isTTY: true } }, {}, { width: 80 }],
  ])('%s', (_, streams, env, expected) => {
    expect(terminalOf(env, streams)).toMatchObject(expected);
  });
});
