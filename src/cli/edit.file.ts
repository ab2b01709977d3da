/** Edits of the configuration file itself, for when no daemon runs. */
import type { EditError } from '../config/edit-text.ts';
import { unknownServer } from './ask.daemon.ts';
import { CommandError, usedWrongly } from './failure.ts';

type Entry = Readonly<Record<string, unknown>>;

const isEditError = (error: unknown): error is EditError => error instanceof Error && error.name === 'EditError';

/** The editor's and the file's own reasons become errors of the command. */
async function edited<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isEditError(error) && !(error instanceof Error && error.name === 'FileError')) throw error;
    const sentence = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}`;
    throw new CommandError(/[.!?]$/.test(sentence) ? sentence : `${sentence}.`, { next: ['config check'] });
  }
}

/** Names of the servers in a file; none when it is missing or broken. */
async function namesIn(file: string): Promise<string[]> {
  const { readText } = await import('../config/files.ts');
  const { parseConfig } = await import('../config/parse.ts');
  const text = await readText(file).catch(() => null);
  const parsed = text === null ? null : parseConfig(text);
  return parsed?.ok ? [...parsed.raw.keys()] : [];
}

/** Adds or replaces a server after the same check as the daemon's; used wrongly when the entry cannot work. */
export async function addToFile(file: string, name: string, entry: Entry): Promise<{ readonly replaced: boolean }> {
  const { readEntry } = await import('../config/entry.read.ts');
  const { configEditor } = await import('../config/edit.ts');
  const { problem } = readEntry(name, entry, { taken: new Set(await namesIn(file)) });
  if (problem) throw usedWrongly(`${name} cannot be added: ${problem.message}.`, 'add --help');
  let replaced = false;
  await edited(() =>
    configEditor(file).setEntry(name, (stored) => {
      replaced = stored !== undefined;
      return entry;
    }),
  );
  return { replaced };
}

/** Sets or takes away `disabled`; `command` is what was typed, for the error about an unknown name. */
export async function setDisabledInFile(file: string, name: string, disabled: boolean, command: string): Promise<void> {
  const { configEditor } = await import('../config/edit.ts');
  await edited(async () => {
    try {
      await configEditor(file).setDisabled(name, disabled);
    } catch (error) {
      if (isEditError(error) && error.kind === 'unknown-server')
        throw unknownServer(name, await namesIn(file), command);
      throw error;
    }
  });
}

/** Gives one server another name. */
export async function renameInFile(file: string, from: string, to: string): Promise<void> {
  const { configEditor } = await import('../config/edit.ts');
  await edited(() => configEditor(file).renameEntry(from, to));
}

/** Text of a file; null when it is missing. What keeps it from being read becomes an error of the command. */
export async function textOf(file: string): Promise<string | null> {
  const { readText } = await import('../config/files.ts');
  return edited(() => readText(file));
}
