/** One server: its head, and the tab that is open. Pure. */
import type { ReactNode } from 'react';
import type { ServerStatus } from '../api/client.ts';
import { counted, duration, exactDuration } from '../cli/duration.ts';
import { oneLine } from '../cli/paint.ts';
import { isObject } from '../config/raw.ts';
import { inPlainWords } from '../replay/fact.words.ts';
import { tabRows } from './layout.ts';
import { around, cell, foreign, foreignLines, type Line, line, type Span, span } from './line.ts';
import { markedFact, tabsOf } from './model.server.ts';
import { clock, textLines } from './server.lines.ts';
import { lookOf, transportWord } from './state.look.ts';
import type { Event, Model, Opened, Tab } from './state.ts';
import { isChanged, type ToolRow, tickOf, toolRows } from './tool.rows.ts';
import { marked, Rows } from './view.parts.tsx';
import { troubleSpans } from './view.servers.tsx';

const titles: Readonly<Record<Tab, string>> = {
  tools: 'Tools',
  timeline: 'Timeline',
  stderr: 'Stderr',
  why: 'Why',
  config: 'Config',
  login: 'Login',
};

function standing(row: ServerStatus, now: number): Line {
  const { sign, tone } = lookOf(row.state);
  const facts = [
    `for ${exactDuration(now - Date.parse(row.since))}`,
    transportWord(row.transport, false),
    counted(row.tools, 'tool'),
    row.pid === null ? '' : `pid ${row.pid}`,
    row.serverInfo ? oneLine(`${row.serverInfo.name} ${row.serverInfo.version ?? ''}`) : '',
    row.protocolVersion ?? '',
  ].filter((text) => text !== '');
  return [span(`${sign} ${row.state}`, tone), ...facts.map((text) => span(` · ${text}`))];
}

/** Two rows: how it stands, or stood, and what is wrong. */
function headLines(model: Model, opened: Opened): readonly [Line, Line] {
  const { moment } = opened;
  if (moment !== null) {
    const when: Span[] = [
      { text: ` AS OF ${clock(moment.at, model.now)} `, tone: 'strong', marked: true },
      span(` fact ${moment.position}  `, 'quiet'),
    ];
    const then = moment.status;
    if (then === undefined) return [[...when, span('…')], []];
    if (then === null) return [[...when, span('it was not known then')], []];
    const at = Date.parse(moment.at);
    return [
      [...when, ...standing(then, at)],
      [span(' '), ...troubleSpans(then, at)],
    ];
  }
  const row = model.status?.find(({ name }) => name === opened.name);
  if (!row) return [line(' …', 'quiet'), []];
  const warnings = (row.warnings ?? []).map((text) => foreign(text, 'warn'));
  const trouble = troubleSpans(row, model.now);
  return [
    [span(' '), ...standing(row, model.now)],
    [span(' '), ...(trouble.length > 0 ? trouble : warnings.slice(0, 1))],
  ];
}

function tabLine(model: Model, opened: Opened): Line {
  return tabsOf(model, opened.name).flatMap((tab, index): Span[] => {
    const text = ` ${index + 1} ${titles[tab]} `;
    const here = tab === opened.tab;
    return [span(index === 0 ? '' : ' '), here ? { text, tone: 'strong', marked: true } : span(text, 'quiet')];
  });
}

export function Server({ model, opened }: { readonly model: Model; readonly opened: Opened }): ReactNode {
  const width = model.size.columns;
  const rows = tabRows(model.size);
  const [first, second] = headLines(model, opened);
  return (
    <Rows
      lines={[first, second, tabLine(model, opened), ...tabLines(model, opened, rows)]}
      rows={rows + 3}
      width={width}
    />
  );
}

function tabLines(model: Model, opened: Opened, rows: number): readonly Line[] {
  if (opened.tab === 'tools') return toolLines(model, opened, rows);
  if (opened.tab === 'timeline') return timelineLines(model, opened, rows);
  const lines = textLines(model, opened);
  const most = Math.max(0, lines.length - rows);
  const from = opened.tab === 'stderr' ? Math.max(0, most - opened.scroll) : Math.min(opened.scroll, most);
  return lines.slice(from, from + rows).map((one) => [span(' '), ...one]);
}

// Tools

const boxes = { on: '[x]', off: '[ ]', some: '[-]', covered: '[·]', suspended: '[!]' } as const;

function rowSpans(opened: Opened, row: ToolRow, nameWidth: number): Line {
  const tick = tickOf(opened, row);
  const box = span(`${boxes[tick]} `, tick === 'suspended' ? 'warn' : tick === 'off' ? 'quiet' : 'good');
  if (row.is === 'whole')
    return [box, span('The whole server', 'strong'), span(`  ${row.entry}  tools that come later too`, 'quiet')];
  if (row.is === 'all')
    return [
      box,
      span(`All ${counted(row.entries.length, 'tool')} there ${row.entries.length === 1 ? 'is' : 'are'} now`, 'strong'),
      span('  each one by its name', 'quiet'),
    ];
  if (row.is === 'gone')
    return [box, cell(row.entry, nameWidth + 2, 'quiet'), span('granted, and not offered any more', 'warn')];
  const { tool } = row;
  const about = oneLine(tool.title ?? '') || oneLine(tool.description.split('\n')[0] ?? '');
  const suspended: Line = tick === 'suspended' ? [span('suspended: it has changed  ', 'warn')] : [];
  return [box, cell(oneLine(tool.tool), nameWidth + 2), ...suspended, span(about, 'quiet')];
}

/** What a server says about its tool, said as its own word. */
function claims(annotations: Readonly<Record<string, unknown>> | null): string {
  if (!isObject(annotations)) return '';
  const said = [
    annotations.readOnlyHint === true ? 'only reads' : annotations.destructiveHint === true ? 'may destroy' : '',
    annotations.idempotentHint === true ? 'may be repeated' : '',
    annotations.openWorldHint === true ? 'reaches outside' : '',
  ].filter((text) => text !== '');
  return said.length === 0 ? '' : `By its own word it ${said.join(', ')}.`;
}

function aboutRow(opened: Opened, row: ToolRow | undefined, width: number): readonly Line[] {
  if (row?.is !== 'tool') {
    const text =
      row?.is === 'whole'
        ? 'One line in the allowlist with a star: it covers tools you have not seen yet.'
        : row?.is === 'all'
          ? 'A line a tool in the allowlist: tools that come later ask.'
          : 'Space takes the line out of the allowlist.';
    return [line(text, 'quiet')];
  }
  const { tool } = row;
  const changed =
    tickOf(opened, row) === 'suspended'
      ? [line('It was granted, and has changed since. A tick grants it as it is now.', 'warn')]
      : [];
  const said = claims(tool.annotations);
  return [
    ...changed,
    [span(oneLine(tool.name), 'strong'), ...(said === '' ? [] : [span(`  ${said}`, 'quiet')])],
    ...foreignLines(tool.description.trim(), width, 'quiet'),
  ];
}

function toolLines(model: Model, opened: Opened, rows: number): readonly Line[] {
  const { list, entries, filter } = opened.tools;
  const width = model.size.columns;
  if (list === null || entries === null) return [line('  Loading …', 'quiet')];
  const found = toolRows(opened);
  if (found.length === 0) return [line(`  No tool fits "${filter}". Esc shows all.`, 'quiet')];
  const cursor = Math.min(opened.tools.cursor, found.length - 1);
  const about = aboutRow(opened, found[cursor], width - 2).slice(0, 3);
  const height = Math.max(1, rows - 5);
  const names = found.map((row) =>
    row.is === 'tool' ? row.tool.tool.length : row.is === 'gone' ? row.entry.length : 0,
  );
  const nameWidth = Math.min(Math.max(8, ...names), Math.floor(width / 2));
  const shown = around(found, cursor, height);
  const lines = shown.items.map((row, index) => {
    const spans = rowSpans(opened, row, nameWidth);
    return shown.from + index === cursor ? marked([span(' '), ...spans], width) : [span(' '), ...spans];
  });
  const none = list.length === 0 ? [line('  The list of tools is not known, or empty.', 'quiet')] : [];
  const stale = list.some((tool) => tool.stale) ? ' · the list is the last one known' : '';
  const above = found.length > height ? ` ${cursor + 1} of ${found.length}` : '';
  const changed = isChanged(opened) ? [span('  changed: Enter saves, Esc leaves them as they were', 'warn')] : [];
  return [
    [span(' Ticked tools run without asking.', 'quiet'), span(`${above}${stale}`, 'quiet'), ...changed],
    ...lines,
    ...none,
    ...Array.from({ length: Math.max(0, height - lines.length - none.length) }, () => []),
    line(` ${'─'.repeat(width - 2)}`, 'quiet'),
    ...about.map((one): Line => [span(' '), ...one]),
  ];
}

// Timeline

function factSpans(event: Event, now: number): Line {
  const { to } = event.data;
  const state = typeof to === 'string' ? oneLine(to) : '';
  const { tone, sign } = lookOf(state);
  return [
    cell(clock(event.at, now), 14, 'quiet'),
    span(`${sign} `, tone),
    cell(state, 15, tone),
    span(oneLine(inPlainWords(event))),
  ];
}

function timelineLines(model: Model, opened: Opened, rows: number): readonly Line[] {
  const { events, whole, cursor } = opened.timeline;
  const width = model.size.columns;
  if (events === null) return [line('  Loading …', 'quiet')];
  if (events.length === 0) return [line('  Nothing has happened yet.', 'quiet')];
  const at = markedFact(opened);
  const height = Math.max(1, rows - 5);
  const shown = around(events, at, height);
  const lines = shown.items.map((event, index): Line => {
    const here = shown.from + index === at;
    const spans: Line = [span(here ? '▸ ' : '  '), ...factSpans(event, model.now)];
    return here ? marked(spans, width) : spans;
  });
  const event = events[at];
  const detail = event
    ? [
        [
          span(` ${event.type}`, 'strong'),
          span(`  fact ${event.position}${event.cause ? `, because of ${oneLine(event.cause)}` : ''}`, 'quiet'),
        ],
        ...foreignLines(oneLine(inPlainWords(event)), width - 2).map((one): Line => [span(' '), ...one]),
      ]
    : [];
  const place = ` ${at + 1} of ${events.length}${whole ? '' : '+'} facts`;
  const follows =
    cursor === null ? 'new ones appear as they come' : `${duration(model.now - Date.parse(event?.at ?? ''))} ago`;
  return [
    [span(`${place} · ${follows}`, 'quiet')],
    ...lines,
    ...Array.from({ length: Math.max(0, height - lines.length) }, () => []),
    line(` ${'─'.repeat(width - 2)}`, 'quiet'),
    ...detail.slice(0, 3),
  ];
}
