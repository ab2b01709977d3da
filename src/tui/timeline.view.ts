/** What happened to a server, drawn as it comes. Pure. */
import type { LogEvent } from '../api/follow.ts';
import { counted } from '../cli/duration.ts';
import { colorOf, factWords } from '../cli/event.text.ts';
import { inPlainWords } from '../replay/fact.words.ts';
import { around, cell, foreign, type Line, line, span, type Tone } from './line.ts';
import type { Model, ServerScreen } from './model.ts';
import { dayClock, lookOf } from './states.ts';
import { cursorIn } from './timeline.ts';

const toneOf = (type: string): Tone => (({ red: 'bad', yellow: 'warn' })[colorOf(type) as string] as Tone) ?? 'busy';

function factLine(fact: LogEvent, model: Model, marked: boolean): Line {
  const { to } = fact.data;
  const state = typeof to === 'string' ? to : '';
  const time = dayClock(fact.at, model.now);
  return [
    span(marked ? ' › ' : '   ', 'strong'),
    cell(String(fact.position), 6, 'quiet', true),
    span('  '),
    { ...cell(time, Math.max(8, time.length), 'quiet'), marked },
    span('  '),
    cell(fact.type, 17, toneOf(fact.type)),
    span(' '),
    cell(state === '' ? '' : `→ ${state}`, 15, lookOf(state).tone),
    span(' '),
    foreign(factWords(fact) || inPlainWords(fact), 'plain'),
  ];
}

export function timelineView(model: Model, screen: ServerScreen, room: number): readonly Line[] {
  const { facts } = screen;
  if (facts === null) return [line(' The log is being read …', 'quiet')];
  if (facts.length === 0) return [line(' Nothing happened yet.', 'quiet')];
  const cursor = cursorIn(screen);
  const shown = around(facts, cursor, Math.max(1, room - 1));
  const behind = facts.length - 1 - cursor;
  const head =
    screen.at === null
      ? line(` ${counted(facts.length, 'fact')}, newest below; they come by themselves. ← goes back in time.`, 'quiet')
      : line(
          ` ${counted(behind, 'later fact')}. What stands above, the tools and the why are of that moment.`,
          'quiet',
        );
  return [head, ...shown.items.map((fact, index) => factLine(fact, model, shown.from + index === cursor))];
}
