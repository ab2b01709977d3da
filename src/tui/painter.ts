/** Puts frames on a terminal: only lines that changed are written, each in its place. */

const at = (row: number): string => `\u001b[${row + 1};1H`;
const clearLine = '\u001b[0m\u001b[K';
/** Terminals that know it show a frame as one; others ignore it. */
const begins = '\u001b[?2026h';
const ends = '\u001b[?2026l';

export interface Painter {
  paint(frame: string): void;
  /** Forgets what is on the screen: the next frame is written whole. */
  forget(): void;
}

/**
 * Whether a line goes on in the next one: it fills its row with letters, as an address does that is longer than the screen.
 * The terminal is left to break it, so that what is copied is one line.
 */
const flowsOn = (line: string, columns: number): boolean => line.length === columns && /^[\u0021-\u007e]+$/.test(line);

export function painterOn(write: (text: string) => void, columns: () => number): Painter {
  let before: readonly string[] | null = null;
  return {
    forget() {
      before = null;
    },
    paint(frame) {
      const lines = frame.split('\n');
      const width = columns();
      let text = before === null ? '\u001b[2J' : '';
      for (let row = 0; row < lines.length; row += 1) {
        const first = row;
        while (flowsOn(lines[row] ?? '', width) && row + 1 < lines.length) row += 1;
        const block = lines.slice(first, row + 1);
        if (before !== null && block.every((line, index) => before?.[first + index] === line)) continue;
        text += `${at(first)}${block.join('')}${block.at(-1)?.length === width ? '' : clearLine}`;
      }
      for (let row = lines.length; row < (before?.length ?? 0); row += 1) text += `${at(row)}${clearLine}`;
      before = lines;
      if (text !== '') write(`${begins}${text}${ends}`);
    },
  };
}
