import { describe, expect, it } from 'vitest';
import { LineSplitter, LineTooLong } from '../../src/mcp/lines.ts';
import { type SseEvent, SseParser } from '../../src/mcp/sse.ts';
import { TAIL_BYTES, Tail } from '../../src/mcp/tail.ts';

/** The bytes in pieces of `size`. */
function pieces(text: string, size: number): Buffer[] {
  const bytes = Buffer.from(text, 'utf8');
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size));
}

describe('LineSplitter', () => {
  const lines = (text: string, size: number, crEnds = false) => {
    const splitter = new LineSplitter(1_000, crEnds);
    const seen: string[] = [];
    for (const piece of pieces(text, size)) splitter.push(piece, (line) => seen.push(line.toString('utf8')));
    return { seen, rest: splitter.rest().toString('utf8') };
  };

  it.each([1, 2, 3, 7, 100])('gives the same lines whatever the pieces (%i bytes)', (size) => {
    expect(lines('a\r\n\nüber\n\r\nb\rc\nrest€', size)).toEqual({ seen: ['a', '', 'über', '', 'b\rc'], rest: 'rest€' });
    expect(lines('a\rb\r\nc\n\r\rd', size, true)).toEqual({ seen: ['a', 'b', 'c', '', ''], rest: 'd' });
  });

  it('refuses a line above its limit, finished or not', () => {
    expect(() => new LineSplitter(10).push(Buffer.from('x'.repeat(11)), () => {})).toThrow(LineTooLong);
    expect(() => new LineSplitter(10).push(Buffer.from(`${'x'.repeat(11)}\n`), () => {})).toThrow(LineTooLong);
    const splitter = new LineSplitter(10);
    splitter.push(Buffer.from('x'.repeat(10)), () => {});
    expect(() => splitter.push(Buffer.from('x'), () => {})).toThrow(LineTooLong);
    expect(() => new LineSplitter(10).push(Buffer.from(`${'x'.repeat(10)}\n`.repeat(5)), () => {})).not.toThrow();
  });

  it('reads a line of 30 MiB that comes in small pieces', () => {
    const splitter = new LineSplitter(64 * 1_048_576);
    const piece = Buffer.alloc(8_192, 0x78);
    let length = 0;
    for (let n = 0; n < 3_840; n += 1) splitter.push(piece, () => {});
    splitter.push(Buffer.from('\n'), (line) => {
      length = line.length;
    });
    expect(length).toBe(30 * 1_048_576);
  });
});

describe('Tail', () => {
  const plain = (text: string) => text;
  const tailOf = (text: string, size: number) => {
    const tail = new Tail();
    for (const piece of pieces(text, size)) tail.push(piece);
    return tail;
  };

  it.each([1, 1_000, 5_000, 100_000])('keeps the last 4 KiB whatever the pieces (%i bytes)', (size) => {
    const text = Array.from({ length: 4_000 }, (_, n) => `line ${n}\n`).join('');
    expect(tailOf(text, size).text(plain)).toBe(text.slice(-TAIL_BYTES));
    expect(tailOf('short', size).text(plain)).toBe('short');
    expect(tailOf('x'.repeat(8_192), size).text(plain)).toBe('x'.repeat(TAIL_BYTES));
  });

  it('begins at a character', () => {
    const text = tailOf(`a${'€'.repeat(5_000)}`, 777).text(plain);
    expect(text).toBe('€'.repeat(Math.floor(TAIL_BYTES / 3)));
  });

  it('masks a secret that its own cut would halve', () => {
    const text = `${'x'.repeat(3_000)}SECRET-VALUE${'y'.repeat(TAIL_BYTES - 6)}`;
    expect(tailOf(text, 512).text((whole) => whole.replaceAll('SECRET-VALUE', '***'))).not.toMatch(/VALUE|SECRET/);
  });
});

describe('SseParser', () => {
  const read = (text: string, size: number) => {
    const parser = new SseParser(10_000);
    const events: SseEvent[] = [];
    for (const piece of pieces(text, size)) parser.push(piece, (event) => events.push(event));
    return { events, lastEventId: parser.lastEventId, retryMs: parser.retryMs };
  };

  it.each([1, 3, 1_000])('reads fields, comments and every end of line (pieces of %i bytes)', (size) => {
    const stream =
      '\ufeff: comment\ndata: one\n\nevent: endpoint\r\ndata:/messages\r\n\r\ndata: a\rdata: b\r\rid: 7\nretry: 250\n\ndata\n\nretry: soon\nid: x\u0000y\nunknown: 1\ndata: é\n\ndata: cut off';
    expect(read(stream, size)).toEqual({
      events: [
        { type: 'message', data: 'one' },
        { type: 'endpoint', data: '/messages' },
        { type: 'message', data: 'a\nb' },
        { type: 'message', data: '' },
        { type: 'message', data: 'é' },
      ],
      lastEventId: '7',
      retryMs: 250,
    });
  });

  it('refuses an event above its limit', () => {
    const parser = new SseParser(100);
    expect(() => parser.push(Buffer.from('data: 123456789\n'.repeat(10)), () => {})).toThrow(LineTooLong);
  });
});
