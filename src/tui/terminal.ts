/** The terminal itself: taken over at the start, and given back as it was, whatever ends the program. */
import type { ReadStream, WriteStream } from 'node:tty';
import { ANEW, GOES_ON } from './line.ts';

const enter = '\u001b[?1049h\u001b[?2004h\u001b[?25l\u001b[H\u001b[2J';
const restore = '\u001b[?2004l\u001b[?1049l\u001b[?25h\u001b[0m';
/** How long a stop may take to come true, in ms; where nobody could go on with a stopped program, none comes. */
const STOP_MS = 300;

export interface Terminal {
  /** To be drawn on: where a line says that the next one goes on, the terminal itself wraps it, with no line break. */
  readonly screen: WriteStream;
  size(): { readonly columns: number; readonly rows: number };
  onInput(listener: (chunk: string) => void): void;
  onResize(listener: () => void): void;
  /** The terminal is gone, or nobody types on it any more. */
  onGone(listener: () => void): void;
  /** It was given away for a while, and all of it has to be drawn anew. */
  onBack(listener: () => void): void;
  write(text: string): void;
  /** false while it is given away, or given back. */
  isOurs(): boolean;
  /** Gives it to the shell, and stops until somebody goes on with the program (`fg`). */
  suspend(): void;
  /** Gives it back; harmless when done twice. */
  close(): void;
}

export function takeTerminal(input: ReadStream, output: WriteStream): Terminal {
  let state: 'taken' | 'given' | 'closed' = 'taken';
  let timer: NodeJS.Timeout | undefined;
  let back = (): void => {};
  const isOurs = (): boolean => state === 'taken';
  const take = (): void => {
    input.setRawMode(true);
    output.write(enter);
  };
  /** Whoever has given it away leaves it alone: a program in the background that touches it is stopped. */
  const give = (next: 'given' | 'closed'): void => {
    const had = state === 'taken';
    state = next;
    if (!had) return;
    input.setRawMode(false);
    output.write(restore);
  };
  const again = (): void => {
    clearTimeout(timer);
    if (state === 'closed') return;
    process.off('SIGTSTP', suspend);
    process.on('SIGTSTP', suspend);
    state = 'taken';
    take();
    back();
  };
  /** What ends the program may have come together with what went on with it, and then it takes nothing any more. */
  const goOn = (): void => void setImmediate(again);
  const suspend = (): void => {
    if (state !== 'taken') return;
    give('given');
    // With nobody listening the signal does what it does to every program: also to those that started this one.
    process.off('SIGTSTP', suspend);
    process.kill(0, 'SIGTSTP');
    timer = setTimeout(goOn, STOP_MS);
  };
  const close = (): void => {
    if (state === 'closed') return;
    clearTimeout(timer);
    process.off('exit', close);
    process.off('SIGCONT', goOn);
    process.off('SIGTSTP', suspend);
    input.removeAllListeners('data');
    input.pause();
    give('closed');
  };
  process.on('exit', close);
  process.on('SIGCONT', goOn);
  process.on('SIGTSTP', suspend);
  input.setEncoding('utf8');
  take();
  return {
    screen: screenOn(output, isOurs),
    size: () => ({ columns: output.columns || 80, rows: output.rows || 24 }),
    onInput: (listener) => void input.on('data', (chunk) => listener(String(chunk))),
    onResize: (listener) => void output.on('resize', listener),
    onGone: (listener) => {
      input.on('end', listener);
      input.on('close', listener);
      input.on('error', listener);
      output.on('error', listener);
    },
    onBack: (listener) => {
      back = listener;
    },
    write: (text) => {
      if (isOurs()) output.write(text);
    },
    isOurs,
    suspend,
    close,
  };
}

/** The same stream, and nothing is written while the terminal is somebody else's. */
const screenOn = (output: WriteStream, isOurs: () => boolean): WriteStream =>
  new Proxy(output, {
    get(target, key) {
      if (key === 'write') {
        return (text: string, ...rest: unknown[]): boolean => {
          const write = target.write.bind(target) as (...given: unknown[]) => boolean;
          if (isOurs()) return write(text.replaceAll(`${GOES_ON}\n`, '').replaceAll(ANEW, ''), ...rest);
          const done = rest.at(-1);
          if (typeof done === 'function') done();
          return true;
        };
      }
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
