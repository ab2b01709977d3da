/** The ledger for people. Pure. */
import type { Call, Calls, LedgerVerified } from '../api/client.ts';
import { visibleName } from '../visible.ts';
import type { View } from './command.ts';
import { bytes, counted, exactDuration, localTime } from './duration.ts';
import { type Color, oneLine } from './paint.ts';
import { type Cell, table } from './table.ts';

const colors: Readonly<Record<string, Color>> = { succeeded: 'green', unknown: 'red', held: 'yellow', running: 'cyan' };

/** How a call ended, or how it stands. */
const endOf = ({ outcome, state, closed }: Call): Cell => {
  const text = outcome ?? state;
  return {
    text: closed === null ? text : `${text}, closed: ${closed.finding}`,
    color: closed === null ? colors[text] : 'dim',
  };
};

export const callTable = ({ calls }: Calls, view: View): string =>
  table(
    [
      { title: 'CALL' },
      { title: 'WHEN' },
      { title: 'TOOL' },
      { title: 'FROM' },
      { title: 'END' },
      { title: 'TOOK', right: true },
      { title: 'WHY', shrinksTo: 20 },
    ],
    calls.map((call): Cell[] => [
      { text: call.id, color: 'bold' },
      { text: localTime(call.requestedAt) },
      { text: call.name },
      { text: `${call.client} (${call.mode})` },
      endOf(call),
      { text: call.tookMs === null ? '' : exactDuration(call.tookMs) },
      { text: oneLine(call.reason ?? call.verdict ?? ''), color: 'dim' },
    ]),
    view,
  );

/** One call with everything that is kept of it; arguments and results are sizes and hashes. */
export function callText(call: Call, view: View): string {
  const { closed } = call;
  const rows: readonly (readonly [string, string | null])[] = [
    ['state', call.outcome ?? call.state],
    ['why', oneLine(call.reason ?? call.verdict ?? '')],
    ['asked', `${localTime(call.requestedAt)}, by ${call.client}, ${call.door}, mode ${call.mode}`],
    ['decided', call.decidedBy === null ? null : `by ${call.decidedBy}`],
    ['started', call.startedAt && localTime(call.startedAt)],
    ['ended', call.settledAt && localTime(call.settledAt)],
    ['took', call.tookMs === null ? null : exactDuration(call.tookMs)],
    ['arguments', `${bytes(call.argsBytes)}, sha256 ${call.argsHash}`],
    ['result', call.resultHash === null ? null : `${bytes(call.resultBytes ?? 0)}, sha256 ${call.resultHash}`],
    ['server', `${call.server}, identity ${call.identity}`],
    ['tool', `${visibleName(call.tool)}, definition ${call.definition}`],
    [
      'closed',
      closed &&
        `${closed.finding}, by ${closed.by}, ${localTime(closed.at)}${closed.note === null ? '' : `: ${oneLine(closed.note)}`}`,
    ],
  ];
  const lines = rows.flatMap(([title, text]) => (text ? [`  ${view.paint('dim', title.padEnd(9))} ${text}\n`] : []));
  return `${view.paint('bold', `${call.name}  ${call.id}`)}\n${lines.join('')}`;
}

export function verifiedText(verified: LedgerVerified, view: View): string {
  const { ok, facts, unchained, from, tip, findings, more, expected } = verified;
  const lines = findings.map(({ message }) => `  ${view.paint('red', '!')} ${message}\n`);
  if (more > 0) lines.push(`  … and ${more} more\n`);
  if (expected !== null)
    lines.push(
      expected.position === null
        ? `  ${view.paint('red', '!')} No fact has the hash you noted: ${oneLine(expected.hash)}\n`
        : `  The hash you noted is that of fact ${expected.position}.\n`,
    );
  const chained =
    unchained === 0
      ? ''
      : `  ${counted(unchained, 'fact')} of before the chain began (at ${from ?? 'none yet'}) cannot be checked.\n`;
  const end = tip === null ? '' : `  Fact ${tip.position} of ${localTime(tip.at)}: ${tip.hash}\n`;
  const head = ok
    ? view.paint('green', `${counted(facts, 'fact')}: nothing is missing and nothing was changed.`)
    : view.paint('red', `Of ${counted(facts, 'fact')}, not all is as it was written.`);
  return `${head}\n${lines.join('')}${chained}${end}`;
}
