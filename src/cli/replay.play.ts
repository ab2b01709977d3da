/** Plays a timeline: at once into a pipe, at the speed it had on a terminal, or a line a key. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Line } from '../replay/timeline.ts';
import { exactDuration } from '../replay/words.ts';
import type { Piece, View } from './command.ts';
import { localTime } from './duration.ts';
import { colorOf } from './event.text.ts';
import { exitCode } from './failure.ts';
import type { Keys } from './keys.ts';
import { cut, oneLine, widthOf } from './paint.ts';

/** Silence that is worth a line of its own, in ms. */
const SILENCE_MS = 10_000;
/** However long nothing happened, nobody waits longer than this, in ms. */
const LONGEST_WAIT_MS = 3_000;
/** The longest change of state there is. */
const INDENT = ' '.repeat(8);
const STATES = 'session-lost → reconnecting'.length;

export type Pace =
  | { readonly kind: 'at-once' }
  /** So many times as fast as it was. */
  | { readonly kind: 'timed'; readonly speed: number }
  | { readonly kind: 'keys'; readonly keys: Keys };

const statesOf = ({ from, to }: Line): string => {
  if (to === null) return '';
  return from === null || from === to ? to : `${from} → ${to}`;
};

/** `    19  2026-03-01 14:30:05.123  ready → session-lost  the connection was lost: exit: …`. */
export function playLine(line: Line, view: View): string {
  const head = `${String(line.position).padStart(6)}  ${localTime(new Date(line.at).toISOString())}  `;
  const states = statesOf(line);
  const words = oneLine(line.text);
  const { width = Number.POSITIVE_INFINITY } = view;
  const before = `${view.paint('dim', head)}${view.paint(colorOf(line.type), states)}`;
  // What a terminal has no room for beside the states is read below them: it says what failed.
  return widthOf(head) + STATES + 2 + widthOf(words) <= width
    ? `${before}${' '.repeat(Math.max(0, STATES - widthOf(states)))}  ${words}\n`
    : `${before}\n${INDENT}${cut(words, Math.max(20, width - INDENT.length))}\n`;
}

const silenceLine = (ms: number, view: View): string =>
  view.paint('dim', `${INDENT}… nothing for ${exactDuration(ms)}\n`);

/** What is read before a line: the silence before it, where it was long. */
const pieceOf = (line: Line): Piece => ({
  json: { ...line, at: new Date(line.at).toISOString() },
  text: (view) =>
    `${line.afterMs !== null && line.afterMs >= SILENCE_MS ? silenceLine(line.afterMs, view) : ''}${playLine(line, view)}`,
});

const NEXT = new Set([' ', '\r', '\n', 'n', 'j', '\u001b[B', '\u001b[C']);
const END = new Set(['q', 'Q', '\u0003', '\u0004', '\u001b']);

async function wanted(keys: Keys, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const key = await keys.next(signal);
    if (key === null || END.has(key)) return false;
    if (NEXT.has(key)) return true;
  }
}

/** Ends with the last line, or when interrupted. */
export async function* playing(lines: Iterable<Line>, pace: Pace, signal: AbortSignal): AsyncGenerator<Piece, number> {
  try {
    if (pace.kind === 'keys') yield { notes: ['Space or enter: the next line. q: the end.'] };
    let first = true;
    for (const line of lines) {
      if (pace.kind === 'timed' && line.afterMs !== null) {
        await pause(Math.min(line.afterMs / pace.speed, LONGEST_WAIT_MS), undefined, { signal }).catch(() => {});
      }
      if (signal.aborted) break;
      if (pace.kind === 'keys' && !first && !(await wanted(pace.keys, signal))) break;
      first = false;
      yield pieceOf(line);
    }
    return exitCode.done;
  } finally {
    if (pace.kind === 'keys') pace.keys.close();
  }
}
