/** The one component: it draws what a view computed. */
import { Text } from 'ink';
import type { ReactElement } from 'react';
import { screenText } from './ansi.ts';
import type { Line } from './line.ts';

export const Screen = ({
  lines,
  color,
}: {
  readonly lines: readonly Line[];
  readonly color: boolean;
}): ReactElement => <Text wrap="truncate">{screenText(lines, color)}</Text>;
