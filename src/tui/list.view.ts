/** The list of servers, drawn. Pure. */
import type { ServerStatus } from '../api/client.ts';
import { duration } from '../cli/duration.ts';
import { widthOf } from '../cli/paint.ts';
import { cell, fitted, foreign, type Line, line, named, type Span, span, widthOfLine } from './line.ts';
import { chosen, shownServers } from './list.ts';
import type { Model } from './model.ts';
import { sparkline } from './spark.ts';
import { errorOf, lookOf, nextWords, transportWord } from './states.ts';

const HOUR = 3_600_000;
/** From this width on a short error stands in the row of its server; else below it, on a line of its own. */
const WIDE = 110;
const blank = span('  ');

interface Widths {
  readonly name: number;
  readonly bars: number;
  readonly wide: boolean;
}

const widthsOf = (model: Model): Widths => {
  const wide = model.columns >= WIDE;
  const longest = Math.max(7, ...(model.servers ?? []).map(({ name }) => widthOf(name)));
  return { name: Math.min(longest, wide ? 32 : 20), bars: wide ? 20 : 12, wide };
};

const header = ({ name, bars }: Widths, sort: string, beside: boolean): Line => {
  const title = (text: string, key: string): string => (key === sort ? `${text}↓` : text);
  return [
    cell(`  ${title('SERVER', 'name')}`, name + 2, 'quiet'),
    blank,
    cell(title('STATE', 'state'), 15, 'quiet'),
    blank,
    cell('VIA', 5, 'quiet'),
    blank,
    cell(title('TOOLS', 'tools'), 6, 'quiet', true),
    blank,
    cell(title('SINCE', 'since'), 6, 'quiet', true),
    blank,
    cell('LAST HOUR', bars, 'quiet'),
    ...(beside ? [blank, span('ERROR', 'quiet')] : []),
  ];
};

const barsOf = (model: Model, name: string, cells: number): readonly Span[] =>
  sparkline(model.past[name] ?? [], model.now - HOUR, model.now, cells);

/** The error in words, and when it is tried again. */
function troubleOf(server: ServerStatus, now: number): Span[] {
  const error = errorOf(server);
  const next = nextWords(server, now);
  if (error === '' && next === '') return [];
  return [
    ...(next === '' ? [] : [span(`next try ${next}${error === '' ? '' : ' · '}`, 'strong')]),
    foreign(error, server.state === 'ready' ? 'warn' : 'plain'),
  ];
}

function rowOf(model: Model, server: ServerStatus, widths: Widths, marked: boolean): readonly Line[] {
  const { sign, tone } = lookOf(server.state);
  const trouble = troubleOf(server, model.now);
  const row: Line = [
    { ...cell(`${marked ? '›' : ' '} ${server.name}`, widths.name + 2, 'strong'), marked },
    blank,
    cell(`${sign} ${server.state}`, 15, tone),
    blank,
    cell(transportWord(server), 5, 'quiet'),
    blank,
    cell(String(server.tools), 6, 'plain', true),
    blank,
    cell(duration(model.now - Date.parse(server.since)), 6, 'plain', true),
    blank,
    ...barsOf(model, server.name, widths.bars),
  ];
  if (trouble.length === 0) return [row];
  const beside: Line = [...row, blank, ...trouble];
  // Beside it only what fits there whole: below there is more room.
  return widths.wide && widthOfLine(beside) <= model.columns ? [beside] : [row, [span('    '), ...trouble]];
}

function nothing(model: Model): readonly Line[] {
  if (model.servers === null) return [line('  The servers are being read …', 'quiet')];
  if (model.list.filter !== '') {
    return [line(`  No server matches "${model.list.filter}". Esc shows all again.`, 'quiet')];
  }
  return [
    line('  No servers yet.', 'strong'),
    [],
    [span('  Press '), span('a', 'accent'), span(' to add one. A line such as')],
    line('    npx -y @modelcontextprotocol/server-memory', 'accent'),
    line('  or the JSON of its README can be pasted there as it is.'),
  ];
}

/** The whole body: the header, and as many rows as fit, the chosen one among them. */
export function listView(model: Model, height: number): readonly Line[] {
  const servers = shownServers(model);
  if (servers.length === 0) return [[], ...nothing(model)];
  const widths = widthsOf(model);
  const selected = chosen(model)?.name;
  let cursor = 0;
  const lines: Line[] = [];
  /** Which server each line is about. */
  const owners: number[] = [];
  let beside = false;
  servers.forEach((server, index) => {
    if (server.name === selected) cursor = lines.length;
    const row = rowOf(model, server, widths, server.name === selected);
    if (row.length === 1 && troubleOf(server, model.now).length > 0) beside = true;
    for (const one of row) {
      lines.push(one);
      owners.push(index + 1);
    }
  });
  const { filter, sort } = model.list;
  const room = Math.max(2, height - 2);
  const from = Math.max(0, Math.min(cursor - Math.floor(room / 2), lines.length - room));
  const told: Span[] = [];
  if (filter !== '')
    told.push(
      span(' Filter: ', 'quiet'),
      named(filter, 'strong'),
      span(` (${servers.length} of ${model.servers?.length ?? 0}), Esc shows all`, 'quiet'),
    );
  if (lines.length > room)
    told.push(span(` ${owners[from]} to ${owners[from + room - 1]} of ${servers.length}`, 'quiet'));
  const head = header(widths, sort, beside);
  return [told, head, ...lines.slice(from, from + room)].map((one) => fitted(one, model.columns));
}
