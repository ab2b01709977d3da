/** Takes a terminal over and gives it back as it was, however the process ends. */
import type { Screen } from '../cli/terminal.ts';

/** A screen of its own, no cursor, and pasted text in brackets, so that it is told from typing. */
const enter = '\u001b[?1049h\u001b[?25l\u001b[?2004h';
const leave = '\u001b[?2026l\u001b[0m\u001b[?2004l\u001b[?25h\u001b[?1049l';

export interface Taken {
  readonly size: () => { readonly columns: number; readonly rows: number };
  write(text: string): void;
  /** Gives it back; twice is once. */
  giveBack(): void;
}

/** `onInput` gets what is typed, in pieces; `onResize` is told of another size. */
export function takeTerminal(
  { input, output }: Screen,
  on: { readonly input: (chunk: string) => void; readonly resize: () => void },
): Taken {
  let taken = true;
  const giveBack = (): void => {
    if (!taken) return;
    taken = false;
    process.off('exit', giveBack);
    input.off('data', on.input);
    output.off('resize', on.resize);
    output.write(leave);
    try {
      input.setRawMode(false);
    } catch {
      // The terminal is gone: there is nothing to set right.
    }
    input.pause();
  };
  // Also after an error nobody caught: the message then stands on the ordinary screen.
  process.on('exit', giveBack);
  input.setEncoding('utf8');
  input.setRawMode(true);
  input.on('data', on.input);
  output.on('resize', on.resize);
  input.resume();
  output.write(enter);
  return {
    size: () => ({ columns: output.columns || 80, rows: output.rows || 24 }),
    write: (text) => void (taken && output.write(text)),
    giveBack,
  };
}
