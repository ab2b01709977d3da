/** The terminal, drawn. Loaded by the command when it is asked for, since nothing else needs React. */
import { render, Text } from 'ink';

export interface TerminalOptions {
  readonly title: string;
}

/** Resolves with the exit code when the person leaves. */
export async function runTerminal({ title }: TerminalOptions): Promise<number> {
  const screen = render(<Text>{title}</Text>);
  await screen.waitUntilExit();
  return 0;
}
