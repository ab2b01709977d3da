/** The terminal itself: taken over at the start, and given back as it was, whatever ends the program. */
import type { ReadStream, WriteStream } from 'node:tty';

const enter = '\u001b[?1049h\u001b[?2004h\u001b[H\u001b[2J';
const restore = '\u001b[?2004l\u001b[?1049l\u001b[?25h\u001b[0m';

export interface Terminal {
  readonly input: ReadStream;
  readonly output: WriteStream;
  size(): { readonly columns: number; readonly rows: number };
  onInput(listener: (chunk: string) => void): void;
  onResize(listener: () => void): void;
  write(text: string): void;
  /** Gives it back; harmless when done twice. */
  close(): void;
}

export function takeTerminal(input: ReadStream, output: WriteStream): Terminal {
  let open = true;
  const close = (): void => {
    if (!open) return;
    open = false;
    process.off('exit', close);
    input.removeAllListeners('data');
    input.setRawMode(false);
    input.pause();
    output.write(restore);
  };
  process.on('exit', close);
  input.setRawMode(true);
  input.setEncoding('utf8');
  output.write(enter);
  return {
    input,
    output,
    size: () => ({ columns: output.columns || 80, rows: output.rows || 24 }),
    onInput: (listener) => void input.on('data', (chunk) => listener(String(chunk))),
    onResize: (listener) => void output.on('resize', listener),
    write: (text) => {
      if (open) output.write(text);
    },
    close,
  };
}
