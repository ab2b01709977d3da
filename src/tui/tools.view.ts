/** The tools of a server with what is granted, drawn. Pure. */
import { oneLine, widthOf } from '../cli/paint.ts';
import { type GrantRow, grantRows, isChanged, type Tick, tickOf } from './grants.ts';
import { around, cell, foreign, type Line, line, named, type Span, span } from './line.ts';
import type { Model, ServerScreen } from './model.ts';

const boxes: Readonly<Record<Tick, string>> = { on: '[x]', off: '[ ]', some: '[-]', covered: '[*]' };

/** The first line of a description. */
const firstLine = (text: string): string => oneLine(text.split('\n').find((one) => one.trim() !== '') ?? '');

function wordsOf(row: GrantRow, width: number): { name: string; about: string } {
  switch (row.kind) {
    case 'every':
      return { name: 'the whole server', about: `also tools it adds later: ${row.entry}` };
    case 'all':
      return { name: `all ${row.entries.length} tools`, about: 'those listed below, each by its name' };
    case 'gone':
      return { name: row.entry, about: 'granted, and not among its tools now' };
    case 'tool':
      return { name: row.tool.tool, about: width > 0 ? firstLine(row.tool.description) : '' };
  }
}

/** What the server says of a tool, as one word. */
function hintOf(row: GrantRow): string {
  if (row.kind !== 'tool') return '';
  const { readOnlyHint, destructiveHint } = (row.tool.annotations ?? {}) as Record<string, unknown>;
  return readOnlyHint === true ? 'reads' : destructiveHint === true ? 'destructive' : '';
}

export function toolsView(model: Model, screen: ServerScreen, room: number): readonly Line[] {
  const { tools, grants, name } = screen;
  if (tools === null || grants === null) return [line(' The tools are being read …', 'quiet')];
  const rows = grantRows(name, tools, grants);
  const cursor = Math.min(screen.row, rows.length - 1);
  const longest = Math.max(16, ...rows.map((row) => widthOf(named(wordsOf(row, 0).name).text)));
  const width = Math.min(longest, Math.floor(model.columns * 0.4));
  const drawn = rows.map((row, index): Line => {
    const marked = index === cursor;
    const tick = tickOf(row, grants, name);
    const { name: title, about } = wordsOf(row, model.columns);
    const suspended = row.kind !== 'all' && grants.suspended.includes(row.entry) && tick !== 'on';
    const hint = hintOf(row);
    const rest: Span[] = suspended
      ? [span('suspended: it changed since it was granted; tick it to grant it as it is now', 'warn')]
      : [...(hint === '' ? [] : [span(`${hint}  `, hint === 'reads' ? 'quiet' : 'warn')]), foreign(about, 'quiet')];
    return [
      span(marked ? ' › ' : '   ', 'strong'),
      span(`${boxes[tick]} `, tick === 'off' ? 'quiet' : 'good'),
      { ...cell(named(title).text, width, row.kind === 'tool' ? 'plain' : 'strong'), marked },
      span('  '),
      ...rest,
    ];
  });
  const stale = tools.some((tool) => tool.stale);
  const head: Line[] = [
    [
      span(' What is ticked runs without asking.', 'quiet'),
      ...(stale ? [span(' The list is the last known one: it is not connected.', 'warn')] : []),
      ...(rows.length > room - 1 ? [span(` Row ${cursor + 1} of ${rows.length}.`, 'quiet')] : []),
      ...(isChanged(grants) ? [span(' Not saved yet: Enter saves.', 'warn')] : []),
    ],
  ];
  if (tools.length === 0)
    head.push(line(screen.at === null ? ' It offers no tools now.' : ' No tools of it were known then.', 'quiet'));
  return [...head, ...around(drawn, cursor, Math.max(1, room - head.length)).items];
}
