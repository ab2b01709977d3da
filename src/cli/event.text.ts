/** Facts of the log for people: one line each. Pure. */

import { factWords as wordsOf } from '../replay/fact.words.ts';
import type { View } from './command.ts';
import { localTime } from './duration.ts';
import { type Color, cut, oneLine, widthOf } from './paint.ts';
import type { Event } from './shapes.ts';

/** The members worth reading; what is not known here stays for `--json`. */
export const factWords = (event: Event): string => oneLine(wordsOf(event));

/** How a kind of fact is coloured. */
export const colorOf = (type: string): Color => {
  if (/Failed|Lost|Rejected|Suspended/.test(type)) return 'red';
  if (/Required|Held|Denied/.test(type)) return 'yellow';
  return 'cyan';
};

/** `1204  2026-03-01 14:30:05.123  server-github  SessionLost → session-lost  transport: …`; cut to a terminal's width only. */
export function eventLine(event: Event, view: View): string {
  const { to } = event.data;
  const head = `${String(event.position).padStart(6)}  ${localTime(event.at)}  ${event.stream}  `;
  const type = `${event.type}${typeof to === 'string' ? ` → ${oneLine(to)}` : ''}`;
  const words = factWords(event);
  const room = view.width === undefined ? undefined : Math.max(20, view.width - widthOf(head) - widthOf(type) - 2);
  const tail = words === '' ? '' : `  ${room === undefined ? words : cut(words, room)}`;
  return `${view.paint('dim', head)}${view.paint(colorOf(event.type), type)}${tail}\n`;
}
