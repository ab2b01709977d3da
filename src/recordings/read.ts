/** Reads what was recorded, oldest first. */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isLine, type Line } from './line.ts';
import { filesIn } from './segments.ts';

/**
 * The lines of all files of a server. What cannot be read is left out: the last line of a daemon that was killed, a file
 * that was rotated away meanwhile.
 */
export async function* readRecording(folder: string, server: string): AsyncGenerator<Line, void> {
  for (const { name } of await filesIn(join(folder, server))) {
    const input = createReadStream(join(folder, server, name));
    try {
      for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
        const line = parsed(text);
        if (isLine(line)) yield line;
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    } finally {
      input.destroy();
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
