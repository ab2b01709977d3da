/** The one component: it draws what a view computed. */
import { Text } from 'ink';
import type { ReactElement } from 'react';

export const Screen = ({ text }: { readonly text: string }): ReactElement => <Text wrap="truncate">{text}</Text>;
