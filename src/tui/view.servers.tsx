/** The list of servers. Pure. */
import type { ReactNode } from 'react';
import type { ServerStatus } from '../api/client.ts';
import { duration } from '../cli/duration.ts';
import { errorWords, widthOf } from '../cli/paint.ts';
import { bodyRows, isWide } from './layout.ts';
import { around, cell, foreign, type Line, line, type Span, span } from './line.ts';
import { listedServers, selectedIndex } from './server.rows.ts';
import { sparkline } from './spark.ts';
import { lookOf, transportWord } from './state.look.ts';
import type { Model } from './state.ts';
import { marked, Rows } from './view.parts.tsx';

const hourMs = 3_600_000;

interface Widths {
  readonly name: number;
  readonly state: number;
  readonly transport: number;
  readonly bars: number;
  readonly wide: boolean;
}

function widthsOf(model: Model, rows: readonly ServerStatus[]): Widths {
  const wide = isWide(model.size);
  const longest = (texts: readonly string[], least: number): number => Math.max(least, ...texts.map(widthOf));
  const name = Math.min(
    longest(
      rows.map((row) => row.name),
      6,
    ),
    wide ? 40 : Math.max(8, model.size.columns - 60),
  );
  const state = longest(
    rows.map((row) => row.state),
    5,
  );
  const room = model.size.columns - (name + state + 35);
  return { name, state, transport: wide ? 15 : 9, bars: wide ? 30 : Math.max(0, Math.min(room, 24)), wide };
}

/** `next try in 4 s`; nothing when none is due. */
export function nextTry({ nextAttemptAt }: Pick<ServerStatus, 'nextAttemptAt'>, now: number): string {
  if (nextAttemptAt === null) return '';
  const wait = Date.parse(nextAttemptAt) - now;
  return wait <= 0 ? 'trying now' : `next try in ${duration(wait + 999)}`;
}

/** What is wrong and when it is tried again, on one line; empty when nothing is. */
export function troubleSpans(server: ServerStatus, now: number): Line {
  const next = nextTry(server, now);
  const error: readonly Span[] = server.error
    ? [foreign(errorWords(server.error), server.state === 'ready' ? 'warn' : 'bad')]
    : [];
  const what = server.state === 'auth-required' ? [span('l logs in', 'accent')] : [];
  return [...(next === '' ? [] : [span(next, 'warn')]), ...what, ...error].flatMap((one, index) =>
    index === 0 ? [one] : [span(' · ', 'quiet'), one],
  );
}

function head({ name, state, transport, bars, wide }: Widths, sort: Model['list']['sort']): Line {
  const title = (text: string, by?: Model['list']['sort']): string => (by === sort ? `${text}▾` : text);
  return [
    span('  '),
    cell(title('SERVER', 'name'), name + 2, 'quiet'),
    cell(title('STATE', 'state'), state + 4, 'quiet'),
    cell('TRANSPORT', transport + 2, 'quiet'),
    cell(title('TOOLS', 'tools'), 6, 'quiet', true),
    span('  '),
    cell(title('SINCE', 'since'), 8, 'quiet'),
    cell('LAST HOUR', bars, 'quiet'),
    ...(wide ? [span('  ERROR', 'quiet')] : []),
  ];
}

/** The lines of one server: a second one for what is wrong where there is no room beside. */
function rowLines(model: Model, server: ServerStatus, widths: Widths, here: boolean): readonly Line[] {
  const { sign, tone } = lookOf(server.state);
  const resting = tone === 'quiet';
  const bars = sparkline(model.stretches[server.name] ?? [], model.now - hourMs, model.now, widths.bars);
  const trouble = troubleSpans(server, model.now);
  const first: Line = [
    span(here ? '▸ ' : '  ', 'accent'),
    cell(server.name, widths.name + 2, resting ? 'quiet' : 'strong'),
    span(`${sign} `, tone),
    cell(server.state, widths.state + 2, tone),
    cell(transportWord(server.transport, !widths.wide), widths.transport + 2, resting ? 'quiet' : 'plain'),
    cell(String(server.tools), 6, resting ? 'quiet' : 'plain', true),
    span('  '),
    cell(duration(model.now - Date.parse(server.since)), 8, resting ? 'quiet' : 'plain'),
    ...bars.map(({ text, tone: how }) => span(text, how)),
    ...(widths.wide ? [span('  '), ...trouble] : []),
  ];
  const lines = widths.wide || trouble.length === 0 ? [first] : [first, [span('    ↳ ', 'quiet'), ...trouble]];
  return here ? [marked(lines[0] ?? [], model.size.columns), ...lines.slice(1)] : lines;
}

function emptyLines(model: Model): readonly Line[] {
  if (model.status === null) return [line('  Loading …', 'quiet')];
  if (model.status.length > 0)
    return [line('  No server fits the filter.', 'quiet'), line('  Esc shows all of them again.', 'quiet')];
  return [
    [],
    line('  No servers yet.', 'strong'),
    [],
    [span('  Press '), span('a', 'accent'), span(' to add one: typed in, or pasted from the README of a server.')],
    [span('  To take over those of another program: ', 'quiet'), span('watchkeeper import')],
    [],
    [span('  The file: ', 'quiet'), span(model.around.configFile, 'quiet')],
  ];
}

export function Servers({ model }: { readonly model: Model }): ReactNode {
  const rows = bodyRows(model.size);
  const width = model.size.columns;
  const servers = listedServers(model);
  if (servers.length === 0) return <Rows lines={emptyLines(model)} rows={rows} width={width} />;
  const widths = widthsOf(model, servers);
  const cursor = selectedIndex(model);
  const blocks = servers.map((server, index) => rowLines(model, server, widths, index === cursor));
  const lines = blocks.flat();
  const line0 = blocks.slice(0, cursor).flat().length;
  const shown = around(lines, line0, rows - 1);
  return <Rows lines={[head(widths, model.list.sort), ...shown.items]} rows={rows} width={width} />;
}
