/** What an editor of one file format can do. Texts of people stay as they are around the entry that is changed. */
import type { FileProblem } from '../../config/entry.ts';
import type { RawObject } from '../../config/raw.ts';

export type ReadEntries =
  | {
      readonly ok: true;
      /** Entries by name, in the order of the file. */
      readonly entries: RawObject;
      readonly hasKey: boolean;
      /** The file holds nothing else than the key, if that. */
      readonly bare: boolean;
    }
  | { readonly ok: false; readonly problem: FileProblem };

/** `text` without content stands for a file that is not there. Edits throw a FormatError and change nothing else. */
export interface ConfigFormat {
  read(text: string, key: string): ReadEntries;
  /** Adds an entry, or replaces it where it stands. The same value gives the same text. */
  set(text: string, key: string, name: string, value: RawObject): string;
  /** Removes an entry; the text as it was when there is none. */
  remove(text: string, key: string, name: string): string;
  /** Removes the key itself once it holds nothing. */
  removeKey(text: string, key: string): string;
}

/** The file is laid out in a way that an edit would not keep. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}

export const unkept = (): FormatError =>
  new FormatError('the file is laid out in a way that this edit cannot keep; make the change by hand');
