import { describe, expect, it } from 'vitest';
import { type Frame, frameReader } from '../../src/api/event.stream.ts';

const read = (...pieces: string[]): Frame[] => {
  const take = frameReader();
  return pieces.flatMap(take);
};
const message = (data: string, id?: string): Frame => ({ event: 'message', data, id });

describe('Reading an event stream', () => {
  it.each<[string, string[], Frame[]]>([
    ['a frame', ['data: a\n\n'], [message('a')]],
    ['an id and a name', ['id: 7\nevent: gap\ndata: a\n\n'], [{ event: 'gap', data: 'a', id: '7' }]],
    ['the id of an earlier frame', ['id: 7\ndata: a\n\ndata: b\n\n'], [message('a', '7'), message('b', '7')]],
    ['an id without data', ['id: 7\n\ndata: b\n\n'], [message('b', '7')]],
    [
      'a name for one frame only',
      ['event: x\ndata: a\n\ndata: b\n\n'],
      [{ event: 'x', data: 'a', id: undefined }, message('b')],
    ],
    ['several lines of data', ['data: a\ndata:\ndata: b\n\n'], [message('a\n\nb')]],
    ['one blank less after the colon', ['data:  a\n\n'], [message(' a')]],
    ['no blank after the colon', ['data:a\n\n'], [message('a')]],
    ['a field without a colon', ['data\n\n'], [message('')]],
    ['nothing from comments', [': x\n\n:\n\n'], []],
    ['nothing from unknown fields', ['odd: x\nretry: 5\n\n'], []],
    ['nothing from a frame without end', ['data: a\n'], []],
    ['CRLF', ['data: a\r\n\r\ndata: b\r\n\r\n'], [message('a'), message('b')]],
    ['CR', ['data: a\r\rdata: b\r\r:'], [message('a'), message('b')]],
    ['a frame in pieces', ['da', 'ta: a', '\n', '\nda', 'ta: b\n\n'], [message('a'), message('b')]],
    ['CRLF in pieces', ['data: a\r', '\n\r', '\n'], [message('a')]],
  ])('gives %s', (_what, pieces, frames) => {
    expect(read(...pieces)).toEqual(frames);
  });
});
