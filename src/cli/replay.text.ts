/** What verifying and asking what if came to, for people. Pure. */
import type { Replayed } from '../api/client.ts';
import { counted, exactDuration } from '../replay/words.ts';
import type { View } from './command.ts';
import { localTime } from './duration.ts';
import { oneLine } from './paint.ts';
import { type Cell, table } from './table.ts';

type Asked = NonNullable<Replayed['whatIf']>;
type Figures = Asked['recorded'];

const explained = ({ facts, streams, by, heads }: Replayed, about: string): string =>
  `${about}: ${counted(facts, 'fact')}${streams > 1 ? ` in ${streams} streams` : ''}, all explained by the ${by}${
    heads ? ', and they lead to what is stored' : ''
  }.\n`;

/** `about`: the server, or the log. */
export function verdictText(replayed: Replayed, about: string, view: View): string {
  const { divergence, facts } = replayed;
  if (!divergence) return explained(replayed, about);
  const { position, stream, version, type, recorded, folded, reason } = divergence;
  const said = (value: string | null): string => (value === null ? '(nothing)' : oneLine(value));
  return [
    `${view.paint('red', `position ${position}`)}  ${oneLine(stream)} ${version}  ${oneLine(type)}`,
    `  recorded  ${said(recorded)}`,
    `  folded    ${said(folded)}`,
    `  ${oneLine(reason)}`,
    `  ${counted(facts, 'fact')} before it ${facts === 1 ? 'is' : 'are'} explained.`,
    '',
  ].join('\n');
}

/** What a bundle could not say anything about. */
export const lacksText = ({ lacks = [] }: Replayed): string =>
  lacks.length === 0 ? '' : `\nNot in the bundle, and so not looked at:\n${lacks.map((one) => `  ${one}\n`).join('')}`;

const percent = (share: number | null): string => (share === null ? '–' : `${(share * 100).toFixed(2)} %`);

const rows: readonly (readonly [title: string, of: (figures: Figures) => string])[] = [
  ['available', ({ availability }) => percent(availability)],
  ['time up', ({ upMs }) => exactDuration(upMs)],
  ['time down', ({ downMs }) => exactDuration(downMs)],
  ['longest down', ({ longestDownMs }) => exactDuration(longestDownMs)],
  ['attempts', ({ attempts }) => String(attempts)],
  ['failed', ({ failed }) => String(failed)],
  ['losses', ({ losses }) => String(losses)],
];

const setText = ({ set, was }: Asked): string => {
  const wishes = Object.entries(set).map(([key, value]) => {
    const before = was[key as keyof typeof was];
    return before === value ? `${key}=${value}` : `${key}=${value} (was ${before})`;
  });
  return wishes.length === 0 ? 'the limits it had' : wishes.join(', ');
};

/** Both runs beside the recorded one, and below what had to be assumed for each. */
export function whatIfText(asked: Asked, name: string, view: View): string {
  const { from, until, recorded, changed, atBest } = asked;
  const cells = rows.map(([title, of]): Cell[] => [
    { text: title },
    { text: of(recorded) },
    { text: of(changed), color: 'bold' },
    { text: of(atBest) },
  ]);
  const columns = ['', 'RECORDED', 'CHANGED', 'AT BEST'].map((title, index) => ({ title, right: index > 0 }));
  const figures = table(columns, cells, view);
  const assumed = [...assumedLines('changed', changed.assumed), ...assumedLines('at best', atBest.assumed)];
  return [
    `${name}, ${localTime(from)} to ${localTime(until)}, with ${setText(asked)}\n\n`,
    figures,
    '\n',
    assumed.length === 0
      ? 'Nothing had to be assumed.\n'
      : `Assumed, since the outside was never asked:\n${assumed.map((line) => `  ${line}\n`).join('')}`,
  ].join('');
}

function assumedLines(run: string, assumed: Asked['changed']['assumed']): string[] {
  return assumed.map(({ rule, count, examples: [first] }) => {
    const like = first && first.position !== null ? `, taken from position ${first.position}` : '';
    const example = first ? ` (first ${localTime(first.at)}${like})` : '';
    return `${run.padEnd(7)}  ${`${count} ×`.padStart(6)}  ${rule.replace(/\.$/, '')}${example}.`;
  });
}
