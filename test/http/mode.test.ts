import { describe, expect, it } from 'vitest';
import type { PermissionMode } from '../../src/events/call.events.ts';
import type { Caller } from '../../src/http/keeper.ts';
import { type AskedMode, chooseMode } from '../../src/http/mode.ts';
import { Problem } from '../../src/http/problem.ts';

const caller = (defaultMode: PermissionMode, ceiling: PermissionMode): Caller => ({
  client: 'x',
  door: 'http',
  defaultMode,
  ceiling,
});

const chosen = (asked: AskedMode, who: Caller): string => {
  try {
    return chooseMode(asked, who);
  } catch (error) {
    return error instanceof Problem ? error.type : String(error);
  }
};

describe('The permission mode of a call', () => {
  it.each<[string, AskedMode, Caller, string]>([
    ['is what the token has by default', {}, caller('ask', 'allow-all'), 'ask'],
    ['is what the token has by default, whatever that is', {}, caller('deny', 'ask'), 'deny'],
    ['is what the body says', { permission_mode: 'deny' }, caller('ask', 'allow-all'), 'deny'],
    ['is what the header says', { header: 'allow-all' }, caller('ask', 'allow-all'), 'allow-all'],
    [
      'is what the body says before the header',
      { permission_mode: 'ask', header: 'deny' },
      caller('ask', 'ask'),
      'ask',
    ],
    ['has a short form', { allow_all: true }, caller('ask', 'allow-all'), 'allow-all'],
    ['is not changed by allow_all: false', { allow_all: false }, caller('ask', 'allow-all'), 'ask'],
    ['may be said twice', { allow_all: true, permission_mode: 'allow-all' }, caller('ask', 'allow-all'), 'allow-all'],
    [
      'may not be said in two ways',
      { allow_all: true, permission_mode: 'deny' },
      caller('ask', 'allow-all'),
      'invalid-request',
    ],
    ['may reach the ceiling', { permission_mode: 'ask' }, caller('deny', 'ask'), 'ask'],
    [
      'may not pass the ceiling in the body',
      { permission_mode: 'allow-all' },
      caller('ask', 'ask'),
      'mode-above-ceiling',
    ],
    ['may not pass the ceiling in the short form', { allow_all: true }, caller('ask', 'ask'), 'mode-above-ceiling'],
    ['may not pass the ceiling in the header', { header: 'ask' }, caller('deny', 'deny'), 'mode-above-ceiling'],
    ['must be one that exists', { header: 'yolo' }, caller('ask', 'allow-all'), 'invalid-request'],
    ['must not be empty', { header: '' }, caller('ask', 'allow-all'), 'invalid-request'],
  ])('%s', (_title, asked, who, expected) => {
    expect(chosen(asked, who)).toBe(expected);
  });
});
