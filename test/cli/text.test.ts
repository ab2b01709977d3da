import { describe, expect, it } from 'vitest';
import { contentText } from '../../src/cli/content.text.ts';
import { bytes, duration, exactDuration } from '../../src/cli/duration.ts';
import { eventLine, factWords } from '../../src/cli/event.text.ts';
import { cut, harmless, oneLine, painter, widthOf } from '../../src/cli/paint.ts';
import { parseElapsed } from '../../src/cli/process.identity.ts';
import { questionLine, readAnswer } from '../../src/cli/prompt.ts';
import type { Event } from '../../src/cli/shapes.ts';
import { table } from '../../src/cli/table.ts';

describe('lengths of time and sizes', () => {
  it.each([
    [-5, '0 s'],
    [900, '0 s'],
    [12_999, '12 s'],
    [180_000, '3 m'],
    [2 * 3_600_000 + 1, '2 h'],
    [4.5 * 86_400_000, '4 d'],
  ])('%d ms is about %s', (milliseconds, expected) => {
    expect(duration(milliseconds)).toBe(expected);
  });

  it.each([
    [0, '0 ms'],
    [420, '420 ms'],
    [12_000, '12 s'],
    [200_000, '3 m 20 s'],
    [7_500_000, '2 h 5 m'],
    [90_000_000, '1 d 1 h'],
  ])('%d ms is exactly %s', (milliseconds, expected) => {
    expect(exactDuration(milliseconds)).toBe(expected);
  });

  it.each([
    [0, '0 bytes'],
    [1023, '1023 bytes'],
    [12_595, '12.3 KiB'],
    [3_145_728, '3.0 MiB'],
  ])('%d bytes', (count, expected) => {
    expect(bytes(count)).toBe(expected);
  });

  it.each([
    ['00:05', 5000],
    ['01:02:03', 3_723_000],
    ['2-00:00:01', 172_801_000],
    ['soon', null],
  ])('ps says %s', (text, expected) => {
    expect(parseElapsed(text)).toBe(expected);
  });
});

describe('text that came from a server', () => {
  it.each([
    ['colours', '\u001b[31mred\u001b[0m', 'red'],
    ['a cleared screen', 'a\u001b[2J\u001b[Hb', 'ab'],
    ['a window title', 'a\u001b]0;owned\u0007b', 'ab'],
    ['a link', '\u001b]8;;https://x.example\u001b\\here\u001b]8;;\u001b\\', 'here'],
    ['a bell and a backspace', 'a\u0007\bb', 'ab'],
    ['a carriage return that hides what stood there', 'rm -rf\rls', 'rm -rfls'],
    ['text that reads backwards', 'a\u202eb', 'ab'],
    ['a mark of direction', 'a\u200fb', 'ab'],
    ['a text in characters that are not to be seen', 'a\u{e0072}\u{e006d}b\u2060', 'ab'],
    ['emoji that belong together', '👩\u200d👧 ❤\ufe0f', '👩\u200d👧 ❤\ufe0f'],
    ['line breaks and tabs stay', 'a\n\tb', 'a\n\tb'],
  ])('%s', (_, text, expected) => {
    expect(harmless(text)).toBe(expected);
  });

  it('fits on one line', () => {
    expect(oneLine('  a\r\n  b\tc ')).toBe('a b c');
  });

  it('is measured in columns and cut with a sign', () => {
    expect([widthOf('abc'), widthOf('日本'), widthOf('e\u0301'), widthOf('\u001b[31mab\u001b[0m')]).toEqual([
      3, 4, 1, 2,
    ]);
    expect(['✅', '🇩🇪', '🖥', '❤\ufe0f', '📦'].map(widthOf)).toEqual([2, 2, 1, 1, 2]);
    expect([cut('abcdef', 4), cut('日本語', 4), cut('abc', 3), cut('abc', 0)]).toEqual(['abc…', '日…', 'abc', '']);
  });
});

describe('a table', () => {
  const columns = [{ title: 'NAME' }, { title: 'N', right: true }, { title: 'EMPTY' }, { title: 'TEXT', shrinksTo: 6 }];
  const rows = [
    [{ text: 'one' }, { text: '5' }, { text: '' }, { text: 'a rather long text' }],
    [{ text: 'another' }, { text: '12' }, { text: '' }, { text: '' }],
  ];
  const paint = painter(false);

  it('leaves empty columns out and never cuts in a pipe', () => {
    expect(table(columns, rows, { paint, width: undefined })).toBe(
      'NAME      N  TEXT\none       5  a rather long text\nanother  12\n',
    );
  });

  it('cuts what may be cut to fit a terminal', () => {
    expect(table(columns, rows, { paint, width: 24 })).toBe(
      'NAME      N  TEXT\none       5  a rather l…\nanother  12\n',
    );
  });

  it('keeps names whole however narrow the terminal is', () => {
    expect(table(columns, rows, { paint, width: 5 })).toBe('NAME      N  TEXT\none       5  a rat…\nanother  12\n');
  });

  it('aligns whatever is coloured', () => {
    const colored = table([{ title: 'A' }, { title: 'B' }], [[{ text: 'x', color: 'red' }, { text: 'y' }]], {
      paint: painter(true),
      width: undefined,
    });
    expect(colored).toBe('\u001b[2mA\u001b[39;22m  \u001b[2mB\u001b[39;22m\n\u001b[31mx\u001b[39;22m  y\n');
  });
});

describe('a result of a tool', () => {
  const blocks = [
    { type: 'text', text: 'first' },
    { type: 'text', text: 'second\n' },
    { type: 'image', mimeType: 'image/png', data: 'AAAA'.repeat(1024) },
    { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'hello' } },
    { type: 'resource_link', name: 'report', uri: 'file:///r.pdf' },
    { type: 'hologram', depth: 3 },
  ];

  it('shows text as it is and everything else in a line', () => {
    expect(contentText({ content: blocks }, true)).toBe(
      'first\nsecond\n[image image/png 3.0 KiB]\n[resource file:///a.txt text/plain 5 bytes]\n[resource_link report file:///r.pdf]\n[hologram]\n',
    );
  });

  it('is made harmless on a terminal and left alone in a pipe', () => {
    const content = [{ type: 'text', text: '\u001b[2Jx' }];
    expect([contentText({ content }, false), contentText({ content }, true)]).toEqual(['x\n', '\u001b[2Jx\n']);
  });

  it('shows structured content when there is nothing else', () => {
    expect(contentText({ content: [], structuredContent: { a: 1 } }, true)).toBe('{\n  "a": 1\n}\n');
  });
});

describe('a fact of the log', () => {
  const fact = (type: string, data: Record<string, unknown>): Event => ({
    position: 7,
    stream: 'server-github',
    version: 1,
    type,
    schema: 1,
    at: '2026-03-15T12:00:00.000Z',
    cause: null,
    data,
  });

  it.each([
    [
      'SessionLost',
      { failure: { class: 'exit', phase: 'watch', message: 'the process ended', exitCode: 1, stderrTail: 'secret' } },
      'exit: the process ended (exit 1)',
    ],
    [
      'ConnectFailed',
      { delayMs: 2000, failure: { class: 'http-status', message: 'connect: refused', httpStatus: 503 } },
      'http-status: connect: refused (HTTP 503), next try in 2 s',
    ],
    [
      'ServerFailed',
      { failure: { class: 'spawn', message: 'spawn: command not found: x' } },
      'spawn: command not found: x',
    ],
    ['ToolsListed', { count: 9, tools: [], tookMs: 120 }, '9 tools, list changed, after 120 ms'],
    ['CallSettled', { outcome: 'denied', by: 'main', request: { name: 'mcp__a__b' } }, 'mcp__a__b, denied, by main'],
    ['ConfigChanged', { added: ['a', 'b'], changed: [], removed: ['c'] }, 'added a, b, removed c'],
    ['BackoffElapsed', {}, ''],
  ])('%s in words', (type, data, expected) => {
    expect(factWords(fact(type, data))).toBe(expected);
  });

  it.each([
    [
      'LoginStarted',
      { server: 'web', issuer: 'https://as.example', client: 'registered', scope: null },
      'web, at https://as.example',
    ],
    ['LoginEnded', { server: 'web', ok: true, reason: null }, 'web, logged in'],
    ['LoginEnded', { server: 'web', ok: false, reason: 'Nobody came.' }, 'web, not logged in, Nobody came.'],
    [
      'TokenRefreshed',
      { server: 'web', issuer: 'https://as.example', because: 'expiring' },
      'web, at https://as.example, because it was expiring',
    ],
    ['CredentialsDeleted', { server: 'web', by: 'person', revoked: true, client: 'deleted' }, 'web, by person'],
  ])('%s names the server: %j', (type, data, expected) => {
    expect(factWords({ ...fact(type, data), stream: 'logins' })).toBe(expected);
  });

  it('is one line with the state it led to', () => {
    const line = eventLine(fact('SessionLost', { to: 'session-lost' }), {
      paint: painter(false),
      width: undefined,
      now: 0,
    });
    expect(line).toMatch(
      /^ {5}7 {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} {2}server-github {2}SessionLost → session-lost\n$/,
    );
  });
});

describe('a question', () => {
  const question = {
    text: 'Run it?',
    choices: [
      { key: 'o', label: 'once' },
      { key: 'a', label: 'this tool always' },
      { key: 'n', label: 'no' },
    ],
    otherwise: 'n',
  };

  it('shows its keys, the default in capitals', () => {
    expect(questionLine(question)).toBe('Run it? [o]nce, this tool [a]lways, [N]o: ');
  });

  it.each([
    ['', 'n'],
    ['o', 'o'],
    ['Once', 'o'],
    [' ALWAYS ', 'a'],
    ['maybe', null],
  ])('"%s" means %s', (answer, expected) => {
    expect(readAnswer(answer, question)).toBe(expected);
  });
});
