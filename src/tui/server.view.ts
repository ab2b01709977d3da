/** An opened server, drawn: how it stands, its tabs, the tab that is open. Pure. */
import { duration } from '../cli/duration.ts';
import { configView } from './config.view.ts';
import { cell, fitted, foreign, foreignLines, type Line, line, type Span, span } from './line.ts';
import { type Model, type ServerScreen, tabs } from './model.ts';
import { tabsOf } from './server.keys.ts';
import { dayClock, errorOf, lookOf, nextWords, transportWord } from './states.ts';
import { lastWords } from './timeline.ts';
import { timelineView } from './timeline.view.ts';
import { toolsView } from './tools.view.ts';
import { whyView } from './why.view.ts';

/** Screens of fewer rows have none to spare. */
const LOW = 18;
/** Lines of its error, at most. */
const TROUBLE_LINES = 3;

function standing(model: Model, screen: ServerScreen): readonly Line[] {
  const now = model.servers?.find(({ name }) => name === screen.name) ?? null;
  const row = screen.at === null ? now : screen.asOf;
  const fact = screen.facts?.findLast(({ position }) => position <= (screen.at ?? Number.POSITIVE_INFINITY));
  const name = span(` ${screen.name}`, 'strong');
  const back: Line =
    screen.at === null
      ? []
      : [
          { text: ` AS OF ${fact ? dayClock(fact.at, model.now) : ''} `, tone: 'warn', marked: true },
          span(` fact ${screen.at}, ← → go on, Esc: now`, 'quiet'),
        ];
  if (row === null) {
    const missing = screen.at !== null ? 'It was not there then.' : model.servers ? 'It is no longer there.' : '…';
    return [[name, span('  '), span(missing, 'quiet'), span('  '), ...back]];
  }
  const { sign, tone } = lookOf(row.state);
  const at = screen.at === null ? model.now : fact ? Date.parse(fact.at) : model.now;
  const facts = [
    transportWord(row),
    `${row.tools} tools`,
    row.pid === null ? '' : `pid ${row.pid}`,
    row.serverInfo ? `${row.serverInfo.name} ${row.serverInfo.version ?? ''}`.trim() : '',
    row.protocolVersion ?? '',
    row.recording ? 'recording' : '',
  ].filter((text) => text !== '');
  const next = nextWords(row, at);
  const words = [next === '' ? '' : `next try ${next}`, errorOf(row)].filter((text) => text !== '').join(' · ');
  const trouble = foreignLines(words, model.columns - 2, row.state === 'ready' ? 'warn' : 'bad')
    .slice(0, model.rows < LOW ? 1 : TROUBLE_LINES)
    .map((one): Line => [span(' '), ...one]);
  const since = `for ${duration(at - Date.parse(row.since))}`;
  return [
    [name, span('  '), span(`${sign} ${row.state}`, tone), span(` ${since}  `), ...back],
    [span(' '), foreign(facts.join(' · '), 'quiet')],
    ...(words === '' ? [] : trouble),
    [],
  ];
}

function tabLine({ tab, name }: ServerScreen, model: Model): Line {
  return tabsOf(model, name).flatMap((one): Span[] => [
    span(' '),
    { text: ` ${tabs.indexOf(one) + 1} ${one} `, tone: one === tab ? 'strong' : 'quiet', marked: one === tab },
  ]);
}

/** A piece of lines that is longer than the room; says how much is below. */
function scrolled(lines: readonly Line[], scroll: number, room: number): readonly Line[] {
  if (lines.length <= room) return lines;
  const from = Math.min(scroll, lines.length - room + 1);
  const rest = lines.length - from - (room - 1);
  return [...lines.slice(from, from + room - 1), line(rest > 0 ? `   ↓ ${rest} more` : '', 'quiet')];
}

function quoted(text: string, width: number): readonly Line[] {
  return foreignLines(text.trimEnd(), width - 4).map((one): Line => [span('  │ ', 'quiet'), ...one]);
}

/** What the process that runs writes, below what one wrote before it failed; of the past only the latter is known. */
function stderrView(model: Model, screen: ServerScreen): readonly Line[] {
  const last = lastWords(screen);
  const failed =
    last === null
      ? []
      : [
          line(
            ` Its last words at ${dayClock(last.fact.at, model.now)}, with ${last.fact.type} (fact ${last.fact.position}):`,
            'quiet',
          ),
          ...quoted(last.text, model.columns),
        ];
  if (screen.at !== null) return failed.length > 0 ? failed : [line(' No last words are known of that time.', 'quiet')];
  if (screen.stderr === null) return [...failed, line(' It is being read …', 'quiet')];
  const { pid, text, missing } = screen.stderr;
  if (missing === 'no-process') return [line(' No process of it runs here: it has no stderr.', 'quiet')];
  if (missing === 'not-running')
    return [...failed, ...(failed.length > 0 ? [[]] : []), line(' No process of it runs now.', 'quiet')];
  return [
    ...failed,
    ...(failed.length > 0 ? [[]] : []),
    text.trim() === ''
      ? line(` Its process (pid ${pid}) has written nothing to stderr.`, 'quiet')
      : line(` Its process (pid ${pid}) writes, newest below, at most the last 4 KiB:`, 'quiet'),
    ...(text.trim() === '' ? [] : quoted(text, model.columns)),
  ];
}

/** The lines of a tab that is scrolled as a text; null for one that has a cursor. */
function textOf(model: Model, screen: ServerScreen): readonly Line[] | null {
  switch (screen.tab) {
    case 'tools':
    case 'timeline':
      return null;
    case 'stderr':
      return stderrView(model, screen);
    case 'why':
      return whyView(model, screen);
    default:
      return configView(model, screen);
  }
}

function headOf(model: Model, screen: ServerScreen): readonly Line[] {
  const rule = cell('─'.repeat(model.columns), model.columns, 'quiet');
  const all = [[], ...standing(model, screen), tabLine(screen, model), [rule]];
  // On a low screen what is only air gives way.
  return model.rows < LOW ? all.filter((one) => one.length > 0) : all;
}

/** How far the text of the open tab can be scrolled in a body of `height` lines. */
export function mostScroll(model: Model, screen: ServerScreen, height: number): number {
  const room = height - headOf(model, screen).length;
  const lines = textOf(model, screen)?.length ?? 0;
  return lines <= room ? 0 : lines - room + 1;
}

export function serverView(model: Model, height: number): readonly Line[] {
  const { server } = model;
  if (server === null) return [];
  const head = headOf(model, server);
  const room = Math.max(1, height - head.length);
  const text = textOf(model, server);
  const body =
    text !== null
      ? scrolled(text, server.scroll, room)
      : server.tab === 'tools'
        ? toolsView(model, server, room)
        : timelineView(model, server, room);
  return [...head, ...body].map((one) => fitted(one, model.columns));
}
