import { type FileContent, read } from '../config/watch.ts';

/**
 * Whether a file still says what was seen in it. What a watch saw may be older than an edit of our own; taking it then
 * would undo the edit for a moment. The watch will see the newer content too.
 */
export async function isStill(file: string, seen: FileContent): Promise<boolean> {
  return JSON.stringify(await read(file)) === JSON.stringify(seen);
}
