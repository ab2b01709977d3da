import { EventEmitter } from 'node:events';
import type { ReadStream, WriteStream } from 'node:tty';
import { describe, expect, it } from 'vitest';
import { lineText, screenText } from '../../src/tui/ansi.ts';
import { edit, fieldOf } from '../../src/tui/field.ts';
import { keyReader } from '../../src/tui/keys.ts';
import { fitted, line, textOfLine, widthOfLine, wrap } from '../../src/tui/line.ts';
import type { Model } from '../../src/tui/model.ts';
import { sparkline } from '../../src/tui/spark.ts';
import { takeTerminal } from '../../src/tui/terminal.ts';
import { view } from '../../src/tui/view.ts';
import {
  callOf,
  factOf,
  iso,
  key,
  letters,
  noon,
  play,
  screenOf,
  statusOf,
  toolOf,
  widest,
  withServers,
} from './given.ts';

const long = 'word '.repeat(60);
const servers = Array.from({ length: 40 }, (_, index) =>
  statusOf(`server-with-a-long-name-${index}`, {
    state: index % 3 === 0 ? 'failed' : 'ready',
    error: index % 3 === 0 ? { class: 'spawn', message: long, at: iso(0) } : null,
  }),
);
const name = servers[0]?.name ?? '';
const tools = Array.from({ length: 60 }, (_, index) => ({ ...toolOf(name, `tool_${index}`), description: long }));
const facts = Array.from({ length: 90 }, (_, index) => factOf(index + 1, 'ToolsListed', 'ready', { reason: long }));

const list = withServers(...servers);
const server = play(
  list,
  key('enter'),
  { kind: 'tools', name, at: null, tools, entries: [], suspended: [] },
  { kind: 'facts', name, facts },
).model;
const add = play(list, ...letters('a')).model;
const held = play(list, { kind: 'held', calls: [callOf('c', { arguments: { text: 'line\n'.repeat(80) } })] }).model;

const screens: readonly (readonly [string, Model])[] = [
  ['the list', list],
  ['a filter', play(list, ...letters('/server')).model],
  ['a question', play(list, ...letters('d')).model],
  ['tools', server],
  ...[2, 3, 4, 5].map((tab): [string, Model] => [`tab ${tab}`, play(server, ...letters(String(tab))).model]),
  ['the form', add],
  [
    'a failed trial',
    play({
      ...add,
      add: {
        form: (add.add as NonNullable<Model['add']>).form,
        trial: { ok: false, tools: [], error: long, stderr: long.repeat(9) },
      },
    }).model,
  ],
  ['a held call', held],
  ['something said', play(list, { kind: 'said', text: long, tone: 'bad' }).model],
  ['keys', play(list, ...letters('?')).model],
  [
    'a login',
    { ...list, login: { name, url: `https://a/${'x'.repeat(500)}`, field: fieldOf(long), said: null, since: noon } },
  ],
  ['no daemon', play(list, { kind: 'link', up: false, at: noon }).model],
];

describe('Every screen', () => {
  it.each(
    screens.flatMap(([what, model]) =>
      [
        [40, 12],
        [80, 24],
        [140, 45],
      ].map(([columns = 0, rows = 0]) => [what, columns, rows, model] as const),
    ),
  )('%s fits into %i × %i and leaves the last row free', (_what, columns, rows, given) => {
    const { model } = play(given, { kind: 'size', columns, rows });
    expect(view(model)).toHaveLength(rows - 1);
    expect(widest(model)).toBeLessThanOrEqual(columns);
  });

  it('shows the chosen row, wherever it is', () => {
    const end = play(list, key('end')).model;
    expect(screenOf(end)).toMatch(/› server-with-a-lon/);
    expect(screenOf(play(server, key('end')).model)).toMatch(/› \[ \] tool_59/);
  });

  it('is scrolled no further than to its end', () => {
    const text = play(server, ...letters('5'), ...Array.from({ length: 30 }, () => key('page-down'))).model;
    const most = text.server?.scroll ?? 0;
    expect(play(text, key('up')).model.server?.scroll).toBe(Math.max(0, most - 1));
  });

  it('has no colour where none is wanted, and keeps weight and ground', () => {
    const shown = screenText(view(list), false);
    expect([...shown.matchAll(/\u001b\[([\d;]*)m/g)].flatMap(([, codes = '']) => codes.split(';'))).not.toContain('31');
    expect(lineText([{ text: 'x', tone: 'bad', marked: true }], false)).toBe('\u001b[1;7mx\u001b[0m');
    expect(lineText([{ text: 'x', tone: 'bad' }], true)).toBe('\u001b[1;31mx\u001b[0m');
  });

  it('lists every key on the page of keys', () => {
    const { model } = play(list, { kind: 'size', columns: 80, rows: 60 }, ...letters('?'));
    for (const what of ['reconnect', 'remove', 'sort', 'filter', 'bell', 'Ctrl-G', 'one fact back']) {
      expect(screenOf(model)).toContain(what);
    }
  });
});

describe('Lines', () => {
  it.each([
    ['short', 10, 'short'],
    ['exactly ten', 11, 'exactly ten'],
    ['a longer text', 8, 'a longe…'],
    ['日本語の文', 6, '日本…'],
  ])('%s in %i columns is %s', (text, width, shown) => {
    const one = fitted(line(text), width);
    expect(textOfLine(one)).toBe(shown);
    expect(widthOfLine(one)).toBeLessThanOrEqual(width);
  });

  it('are broken between words, and within one that is too long', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('abcdefgh', 3)).toEqual(['abc', 'def', 'gh']);
    expect(wrap('a\n\nb', 3)).toEqual(['a', '', 'b']);
    expect(wrap('  abcdef', 4)).toEqual(['  ab', 'cdef']);
  });
});

describe('Keys', () => {
  it.each<[string, readonly unknown[]]>([
    ['a', [{ text: 'a' }]],
    ['\u001b[A\u001bOB', [{ name: 'up' }, { name: 'down' }]],
    ['\u001b[1;5C', [{ name: 'right' }]],
    ['\r\t\u007f\u0003', [{ name: 'enter' }, { name: 'tab' }, { name: 'backspace' }, { ctrl: 'c' }]],
    ['\u001b[200~a\rb\u001b[201~', [{ paste: 'a\nb' }]],
    ['é日', [{ text: 'é' }, { text: '日' }]],
  ])('%j', (text, inputs) => {
    expect(keyReader().take(text)).toEqual(inputs);
  });

  it('may be cut anywhere', () => {
    const keys = keyReader();
    const found = [...'\u001b[200~pasted\u001b[201~\u001b[B'].flatMap((char) => keys.take(char));
    expect(found).toEqual([{ paste: 'pasted' }, { name: 'down' }]);
  });

  it('are Escape when nothing follows it', () => {
    const keys = keyReader();
    expect(keys.take('\u001b')).toEqual([]);
    expect(keys.pending).toBe(true);
    expect(keys.settle()).toEqual([{ name: 'escape' }]);
  });
});

describe('A field', () => {
  it.each<[string, readonly Parameters<typeof edit>[1][], string]>([
    ['ab', [{ name: 'left' }, { text: 'x' }], 'axb'],
    ['ab', [{ name: 'home' }, { name: 'delete' }], 'b'],
    ['one two', [{ ctrl: 'w' }], 'one '],
    ['one two', [{ ctrl: 'u' }], ''],
    ['ab', [{ ctrl: 'a' }, { ctrl: 'k' }], ''],
    ['日本', [{ name: 'backspace' }], '日'],
  ])('%j after %j', (text, keys, after) => {
    expect(keys.reduce((field, one) => edit(field, one) ?? field, fieldOf(text)).value).toBe(after);
  });
});

describe('The bars of the last hour', () => {
  it('are as high as the share that was ready of the time meant to run', () => {
    const stretches = [
      { state: 'ready', from: 0, to: 100 },
      { state: 'failed', from: 100, to: 200 },
      { state: 'disabled', from: 200, to: 300 },
      { state: 'unobserved', from: 300, to: 400 },
      { state: 'ready', from: 400, to: 450 },
      { state: 'connecting', from: 450, to: null },
    ];
    const bars = sparkline(stretches, 0, 500, 5);
    expect(bars.map(({ text }) => text).join('')).toBe('█▁· ▄');
    expect(bars.map(({ tone }) => tone)).toEqual(['good', 'bad', 'quiet', 'quiet', 'warn']);
  });
});

describe('The terminal', () => {
  it('is given back as it was, also when the process ends in the middle, and only once', () => {
    const written: string[] = [];
    const raw: boolean[] = [];
    const input = Object.assign(new EventEmitter(), {
      setRawMode: (on: boolean) => raw.push(on),
      setEncoding: () => {},
      pause: () => {},
    });
    const output = Object.assign(new EventEmitter(), {
      write: (text: string) => written.push(text),
      columns: 80,
      rows: 24,
    });
    const before = process.listeners('exit');
    const terminal = takeTerminal(input as unknown as ReadStream, output as unknown as WriteStream);
    const [onExit] = process.listeners('exit').filter((listener) => !before.includes(listener));
    expect(written.join('')).toContain('\u001b[?1049h');
    onExit?.(1);
    terminal.close();
    expect(raw).toEqual([true, false]);
    expect(written.join('').match(/\u001b\[\?1049l\u001b\[\?25h/g)).toHaveLength(1);
    expect(process.listeners('exit')).toEqual(before);
  });
});
