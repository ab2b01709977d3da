/** The one component: it draws what a view computed. */
import { Text } from 'ink';
import type { ReactElement } from 'react';
import { screenText } from './ansi.ts';
import { ANEW, type Line } from './line.ts';

export const Screen = ({
  lines,
  color,
  times,
}: {
  readonly lines: readonly Line[];
  readonly color: boolean;
  /** How often all of it had to be drawn anew. */
  readonly times: number;
}): ReactElement => <Text wrap="truncate">{screenText(lines, color) + (times % 2 === 0 ? '' : ANEW)}</Text>;
