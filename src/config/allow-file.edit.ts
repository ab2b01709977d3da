import { updateFile } from './update.ts';

/**
 * Changes `allow_tool` on disk, atomically and alone among all writers. `change` gets '' when there is no file, and a
 * file is made only for something to put in. Resolves with the text now in force. Rejects with a FileError.
 */
export async function updateAllowFile(file: string, change: (text: string) => string): Promise<string> {
  const after = await updateFile(file, (text) => {
    const changed = change(text ?? '');
    return text === null && changed === '' ? null : changed;
  });
  return after ?? '';
}
