/** Why a server is as it is, for people. Pure. */
import type { Why } from '../api/client.ts';
import { adviceFor } from './advice.text.ts';
import type { View } from './command.ts';
import { localTime } from './duration.ts';
import { harmless, oneLine } from './paint.ts';
import { stateCell } from './status.text.ts';

/** Lines of stderr that are shown; `--json` has them all. */
const STDERR_LINES = 12;

interface Placed {
  readonly position: number;
  readonly at: string;
}

const placed = ({ position, at }: Placed, text: string, view: View): string =>
  `${view.paint('dim', `  ${String(position).padStart(6)}  ${localTime(at)}`)}  ${oneLine(text)}\n`;

function chainLines({ chain, omitted }: Why, view: View): string[] {
  const lines = chain.map((link) => {
    const first = link.first ? ` First at ${localTime(link.first.at)} (${link.first.position}).` : '';
    return placed(link, `${link.text}${first}`, view);
  });
  if (omitted === 0) return lines;
  return [...lines.slice(0, -4), view.paint('dim', `          … ${omitted} more …\n`), ...lines.slice(-4)];
}

function stderrLines({ stderr }: Why, view: View): string {
  if (stderr === null) return '';
  const lines = harmless(stderr.text).trimEnd().split('\n');
  const shown = lines.slice(-STDERR_LINES).map((line) => `  ${view.paint('dim', '|')} ${line}\n`);
  return `\nIts last words (${stderr.position}):\n${shown.join('')}`;
}

const isAhead = ({ nextAttemptAt, at }: Why): boolean => nextAttemptAt !== null && nextAttemptAt > at;

/** Changes that the chain does not tell already. */
const untold = ({ changes, chain }: Why): Why['changes'] =>
  changes.filter((change) => !chain.some(({ position, text }) => position === change.position && text === change.text));

/** How it stands, the chain, its last words, what changed, what to do. */
export function whyText(why: Why, view: View): string {
  const { text, color } = stateCell(why.state);
  const until = why.until ? `, until ${localTime(why.until.at)} (then ${why.until.state})` : '';
  const due = isAhead(why) ? ` Next attempt at ${localTime(why.nextAttemptAt ?? why.at)}.` : '';
  const changes = untold(why).map((change) => placed(change, change.text, view));
  return [
    `${view.paint('bold', why.server)}: ${color ? view.paint(color, text) : text} since ${localTime(why.since)}${until}\n`,
    `${oneLine(why.summary)}${due}\n`,
    `\nBecause, newest first:\n`,
    ...chainLines(why, view),
    stderrLines(why, view),
    changes.length > 0 ? `\nWhat changed around it:\n${changes.join('')}` : '',
    why.next ? `\n${why.next.text}\n  ${view.paint('bold', adviceFor(why.next.command, view))}\n` : '',
  ].join('');
}
