import { type FileContent, read } from '../config/watch.ts';

/**
 * Whether a file still says what was seen in it. What a watch saw may be older than an edit of our own; taking it then
 * would undo the edit for a moment. The watch will see the newer content too.
 */
export async function isStill(file: string, seen: FileContent, reader = read): Promise<boolean> {
  return JSON.stringify(await reader(file)) === JSON.stringify(seen);
}
