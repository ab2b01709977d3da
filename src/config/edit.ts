/** Edits of `mcp.json` on disk: atomic, alone among all writers, through links, keeping mode and owner. */

import { entryInText, removeEntryText, renameEntryText, setDisabledText, setEntryText } from './edit-text.ts';
import type { RawObject } from './raw.ts';
import { updateFile } from './update.ts';

/** Every method rejects with an EditError or a FileError and has then changed nothing. Each resolves with the new text. */
export interface ConfigEditor {
  /** Adds or replaces. A function gets the entry as stored (undefined: none), under the lock, and may throw. */
  setEntry(name: string, raw: RawObject | ((stored: unknown) => RawObject)): Promise<string>;
  /** Resolves with null, and changes nothing, when there is no such server. */
  removeEntry(name: string): Promise<string | null>;
  setDisabled(name: string, disabled: boolean): Promise<string>;
  renameEntry(from: string, to: string): Promise<string>;
}

export function configEditor(file: string): ConfigEditor {
  return {
    async setEntry(name, raw) {
      const after = await updateFile(file, (text) =>
        setEntryText(text, name, typeof raw === 'function' ? raw(entryInText(text, name)) : raw),
      );
      return after ?? '';
    },
    async removeEntry(name) {
      let found = false;
      const after = await updateFile(file, (text) => {
        found = text !== null && text.trim() !== '' && entryInText(text, name) !== undefined;
        return found && text !== null ? removeEntryText(text, name) : text;
      });
      return found ? after : null;
    },
    async setDisabled(name, disabled) {
      return (await updateFile(file, (text) => setDisabledText(text ?? '', name, disabled))) ?? '';
    },
    async renameEntry(from, to) {
      return (await updateFile(file, (text) => renameEntryText(text ?? '', from, to))) ?? '';
    },
  };
}
