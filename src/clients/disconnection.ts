/** The way back: a client's file without our entries, byte for byte as it was where that can be. */
import { chmod, rm } from 'node:fs/promises';
import { FileError, linkTarget, readText, writeAtomic } from '../config/files.ts';
import { isObject } from '../config/raw.ts';
import { sha256Hex } from '../hash.ts';
import { ConnectError, malformed } from './connect.error.ts';
import type { ClientDescriptor } from './descriptor.ts';
import type { ConfigFormat } from './formats/format.ts';
import { loadFormat } from './formats/load.ts';
import { type Connected, forgetBefore, readBefore } from './registry.ts';

/** How often an edit is made again because somebody else wrote meanwhile. */
const ATTEMPTS = 20;

export interface Disconnected {
  readonly file: string;
  readonly before: string | null;
  /** null: the file is gone, as it was before. */
  readonly after: string | null;
  readonly removed: readonly string[];
  /** Byte for byte what was there before; false: others have changed it since, so only our entries went. */
  readonly restored: boolean;
}

/** Takes our entries out of the file of a client. Call it alone. */
export async function disconnectClient(
  dataDir: string,
  client: ClientDescriptor,
  known: Connected,
  { dryRun }: { readonly dryRun: boolean },
): Promise<Disconnected> {
  const { file } = known;
  const format = await loadFormat(client.format);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const text = await readText(file);
    const result = await wayBack(dataDir, client, known, format, text);
    if (dryRun) return result;
    if ((await readText(file)) !== text) continue;
    if (result.after === null && text !== null) await rm(await linkTarget(file), { force: true });
    else if (result.after !== null && result.after !== text) await writeAtomic(file, result.after);
    if (result.after !== null && known.fileMode !== null && known.tokenIn === 'file' && process.platform !== 'win32')
      await chmod(file, known.fileMode);
    await forgetBefore(dataDir, client.id);
    return result;
  }
  throw new FileError(`${file} keeps changing while it is to be written; try again`);
}

async function wayBack(
  dataDir: string,
  client: ClientDescriptor,
  known: Connected,
  format: ConfigFormat,
  text: string | null,
): Promise<Disconnected> {
  const { file, existed } = known;
  if (text === null) return { file, before: null, after: null, removed: [], restored: !existed };
  const read = format.read(text, client.key);
  const before = await readBefore(dataDir, client.id);
  if (sha256Hex(text) === known.written && before !== null) {
    const removed = read.ok ? known.entries.filter((name) => Object.hasOwn(read.entries, name)) : [];
    const gone = !existed && holdsNothing(format, before, client.key);
    return { file, before: text, after: gone ? null : before, removed, restored: true };
  }
  if (!read.ok) throw malformed(client, file, read.problem);
  const removed = known.entries.filter((name) => Object.hasOwn(read.entries, name));
  try {
    const after = withOwnBack(format, withoutEntries(format, text, client.key, known), before, client.key, known);
    const gone = !existed && holdsNothing(format, after, client.key);
    return { file, before: text, after: gone ? null : after, removed, restored: false };
  } catch (error) {
    if (error instanceof Error && error.name === 'FormatError')
      throw new ConnectError('layout', `${file}: ${error.message}`);
    throw error;
  }
}

/** A file that we began and nobody else wrote to may go; one that its client has made its own stays. */
function holdsNothing(format: ConfigFormat, text: string, key: string): boolean {
  const left = format.read(text, key);
  return left.ok && left.bare && Object.keys(left.entries).length === 0;
}

/** Entries of the user's own that made way come back. */
function withOwnBack(
  format: ConfigFormat,
  text: string,
  before: string | null,
  key: string,
  { replaced }: Connected,
): string {
  const read = before === null ? null : format.read(before, key);
  if (!read?.ok) return text;
  return replaced.reduce((now, name) => {
    const own = Object.hasOwn(read.entries, name) ? read.entries[name] : undefined;
    return isObject(own) ? format.set(now, key, name, own) : now;
  }, text);
}

/** The text without entries of ours, and without the key if that was ours and holds nothing. */
export function withoutEntries(format: ConfigFormat, text: string, key: string, known: Connected): string {
  const after = known.entries.reduce((now, name) => format.remove(now, key, name), text);
  const left = format.read(after, key);
  const empty = left.ok && left.hasKey && Object.keys(left.entries).length === 0;
  return known.madeKey && empty ? format.removeKey(after, key) : after;
}
