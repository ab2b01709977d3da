/** How tools changed, for people: what came and went, and changed definitions word by word. Pure. */
import type { ToolsHistory } from '../api/client.ts';
import type { DiffLine } from '../replay/tool.diff.ts';
import { visibleText } from '../visible.ts';
import type { View } from './command.ts';
import { localTime } from './duration.ts';
import { type Color, oneLine } from './paint.ts';
import { type Cell, table } from './table.ts';

type Step = ToolsHistory['changes'][number];
type Difference = Omit<Step, 'position' | 'at' | 'grant'> & Partial<Pick<Step, 'grant'>>;

/** The library that compares words is loaded when there is something to compare. */
export interface Compare {
  readonly diff: (step: Difference) => readonly DiffLine[];
  readonly text: (line: DiffLine, mark: (piece: DiffLine['pieces'][number]) => string) => string;
}

const signs: Readonly<Record<Step['change'], readonly [sign: string, color: Color]>> = {
  added: ['+', 'green'],
  removed: ['-', 'red'],
  changed: ['~', 'yellow'],
};

const grantWords = ({ grant }: Difference): string => {
  if (!grant) return '';
  const what = grant.entry.endsWith('__*') ? 'granted with its whole server' : 'granted';
  return grant.suspended ? `  ${what}; this change suspended the grant` : `  ${what}`;
};

function stepLines(step: Difference, compare: Compare, view: View): string {
  const [sign, color] = signs[step.change];
  const grant = grantWords(step);
  const head = `  ${view.paint(color, sign)} ${view.paint('bold', step.name)}${view.paint(step.grant?.suspended ? 'red' : 'dim', grant)}\n`;
  if (step.change !== 'changed') return head;
  const mark = ({ kind, text }: DiffLine['pieces'][number]): string => {
    // Spaces at the ends of a piece belong to the text; what changed may be what nobody sees.
    const plain = visibleText(text);
    if (kind === 'same') return plain;
    return kind === 'added' ? view.paint('green', `{+${plain}+}`) : view.paint('red', `[-${plain}-]`);
  };
  return (
    head +
    compare
      .diff(step)
      .map((line) => `      ${compare.text({ ...line, path: oneLine(line.path) }, mark)}\n`)
      .join('')
  );
}

/** Every change below the moment it came, and since when each tool is what it is. */
export function changesText({ changes, tools }: ToolsHistory, compare: Compare, view: View): string {
  let moment = -1;
  const lines = changes.map((step) => {
    const head = step.position === moment ? '' : `${view.paint('dim', `${localTime(step.at)}  (${step.position})`)}\n`;
    moment = step.position;
    return head + stepLines(step, compare, view);
  });
  const rows = tools.map(({ name, firstSeen, lastChanged, removed }): Cell[] => [
    { text: name, color: removed ? 'dim' : 'bold' },
    { text: localTime(firstSeen.at) },
    { text: lastChanged.position === firstSeen.position ? '' : localTime(lastChanged.at) },
    { text: removed ? localTime(removed.at) : '' },
  ]);
  const columns = [{ title: 'TOOL' }, { title: 'FIRST SEEN' }, { title: 'LAST CHANGED' }, { title: 'REMOVED' }];
  return `${lines.join('') || 'Nothing changed.\n'}${rows.length > 0 ? `\n${table(columns, rows, view)}` : ''}`;
}

/** The beginning and the end of a window against each other. */
export function differenceText({ difference }: ToolsHistory, compare: Compare, view: View): string {
  const steps = difference ?? [];
  return steps.length === 0
    ? 'The tools are the same.\n'
    : steps.map((step) => stepLines(step, compare, view)).join('');
}

/** Names in a hint. */
export const suspendedNames = ({ changes }: ToolsHistory): string[] => [
  ...new Set(changes.filter(({ grant }) => grant?.suspended).map(({ name }) => oneLine(name))),
];
