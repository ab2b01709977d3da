/** Connecting a client: its file is changed, the way back is kept. All under one lock; nothing half done stays. */
import { chmod, constants, copyFile, stat } from 'node:fs/promises';
import { codeOf, FileError, linkTarget, readText, writeAtomic } from '../config/files.ts';
import type { RawObject } from '../config/raw.ts';
import { sha256Hex } from '../hash.ts';
import { ConnectError, malformed } from './connect.error.ts';
import type { ClientDescriptor } from './descriptor.ts';
import { withoutEntries } from './disconnection.ts';
import type { HubFacts } from './facts.ts';
import type { ConfigFormat } from './formats/format.ts';
import { loadFormat } from './formats/load.ts';
import type { CheckedEntry } from './identifier.ts';
import {
  type ConnectMode,
  filledEntry,
  literalTokenIn,
  looksLikeOurs,
  mergedEntry,
  plannedEntries,
  type Reach,
  type TokenWay,
  tokenVariable,
} from './plan.ts';
import { type Connected, keepBefore, newToken, type Permission, type Registry, tokenHash } from './registry.ts';

export interface Wish {
  readonly client: ClientDescriptor;
  readonly file: string;
  readonly mode: ConnectMode;
  readonly name: string | null;
  readonly permission: Permission;
  /** null: all. */
  readonly servers: readonly string[] | null;
  /** null: as many as it likes. */
  readonly callsPerMinute: number | null;
  readonly asksInClient: boolean;
  /** `file`: the token is written out although the client could take a reference. */
  readonly token: 'variable' | 'file';
  /** Makes a new token even where one is known. */
  readonly renew?: boolean;
  /** The user's own entries of the same names make way; `disconnect` brings them back. */
  readonly replace?: boolean;
  /** Entries of the user's own that go, whatever they are called. */
  readonly remove?: readonly string[];
  /** From `entriesOfOthers`. */
  readonly ofOthers: ReadonlyMap<string, string>;
  readonly facts: HubFacts;
  readonly reach: Reach;
  readonly now: Date;
}

export interface Change {
  readonly client: ClientDescriptor;
  readonly file: string;
  /** null: there is no file. */
  readonly before: string | null;
  readonly after: string | null;
  readonly entries: readonly CheckedEntry[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  readonly backup: string | null;
  readonly record: Connected;
  /** What a first connection goes back to: the text without entries of ours that an earlier one left. */
  readonly baseline: string;
  /** A token that was made just now: the only moment it can be shown. */
  readonly token: { readonly value: string; readonly variable: string | null } | null;
}

/** How often an edit is made again because somebody else wrote meanwhile. */
const ATTEMPTS = 20;

/** Brings the file of a client to what is wished; `dryRun`: only says what would happen. Call it alone. */
export async function connectClient(
  dataDir: string,
  known: Connected | undefined,
  wish: Wish,
  { dryRun }: { readonly dryRun: boolean },
): Promise<Change> {
  const format = await loadFormat(wish.client.format);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const text = await readText(wish.file);
    const planned = planChange(format, text, known, wish);
    if (dryRun) return planned.change;
    if (planned.change.after !== text && (await readText(wish.file)) !== text) continue;
    return written(dataDir, known, wish, format, text, planned);
  }
  throw new FileError(`${wish.file} keeps changing while it is to be written; try again`);
}

interface Planned {
  readonly change: Change;
  readonly hadKey: boolean;
}

function planChange(format: ConfigFormat, text: string | null, known: Connected | undefined, wish: Wish): Planned {
  const { client, facts, reach, file } = wish;
  const read = format.read(text ?? '', client.key);
  if (!read.ok) throw malformed(client, file, read.problem);
  const planned = plannedEntries(wish, facts);
  const shared = planned.find(({ entry }) => wish.ofOthers.has(entry));
  if (shared !== undefined) throw sharedWith(client, file, shared.entry, wish.ofOthers.get(shared.entry) ?? '');
  const own = new Set(known?.file === file ? known.entries : []);
  const isOwn = (name: string): boolean => own.has(name) || looksLikeOurs(read.entries[name]);
  const taken = planned.map(({ entry }) => entry).filter((name) => Object.hasOwn(read.entries, name) && !isOwn(name));
  if (taken.length > 0 && wish.replace !== true) throw takenBy(client, file, taken);

  const { way, hash, made } = tokenFor(client, known, wish, read.entries);
  const names = new Set(planned.map(({ entry }) => entry));
  const obsolete = [...own].filter((name) => !names.has(name) && Object.hasOwn(read.entries, name));
  try {
    let after = text ?? '';
    const changed: string[] = [];
    const added: string[] = [];
    for (const entry of planned) {
      const current = read.entries[entry.entry];
      // An entry that gets another name keeps what was added to it.
      const origin = current ?? renamedFrom(entry, obsolete, read.entries, known, planned);
      const wanted = filledEntry(client, wish.mode, entry, reach, way);
      const value = taken.includes(entry.entry) ? wanted : mergedEntry(client, origin, wanted);
      const next = format.set(after, client.key, entry.entry, value);
      if (next !== after) (current === undefined ? added : changed).push(entry.entry);
      after = next;
    }
    const going = (wish.remove ?? []).filter((name) => !names.has(name) && Object.hasOwn(read.entries, name));
    for (const name of [...obsolete, ...going]) after = format.remove(after, client.key, name);
    const left = known === undefined ? Object.keys(read.entries).filter((name) => names.has(name) && isOwn(name)) : [];
    const unchanged = after === (text ?? '');
    const record: Connected = {
      file,
      mode: wish.mode,
      name: wish.name,
      permission: wish.permission,
      servers: wish.servers,
      callsPerMinute: wish.callsPerMinute,
      asksInClient: wish.asksInClient,
      tokenHash: hash,
      tokenIn: wish.mode === 'stdio' ? 'none' : way.kind === 'reference' ? 'variable' : 'file',
      entries: planned.map(({ entry }) => entry),
      replaced: [...new Set([...(known?.replaced ?? []), ...taken, ...going])],
      createdAt: known?.createdAt ?? wish.now.toISOString(),
      written: known?.written ?? null,
      existed: known?.existed ?? text !== null,
      fileMode: known?.fileMode ?? null,
      madeKey: known?.madeKey ?? !read.hasKey,
      backup: known?.backup ?? null,
    };
    const change: Change = {
      client,
      file,
      before: text,
      after: unchanged ? text : after,
      entries: planned,
      added,
      removed: [...obsolete, ...going],
      changed,
      backup: null,
      record,
      baseline: left.reduce((now, name) => format.remove(now, client.key, name), text ?? ''),
      token: made === null ? null : { value: made, variable: way.kind === 'reference' ? way.variable : null },
    };
    return { change, hadKey: read.hasKey };
  } catch (error) {
    if (error instanceof Error && (error.name === 'FormatError' || error.name === 'UnsafeValue'))
      throw new ConnectError('layout', `${file}: ${error.message}`);
    throw error;
  }
}

/** The obsolete entry of ours that led to the same place. */
function renamedFrom(
  { server }: CheckedEntry,
  obsolete: readonly string[],
  entries: RawObject,
  known: Connected | undefined,
  planned: readonly CheckedEntry[],
): unknown {
  if (known === undefined || server === null || obsolete.length !== 1) return undefined;
  const [name = ''] = obsolete;
  const text = JSON.stringify(entries[name] ?? null);
  const leads = text.includes(`/mcp/${server}"`) || text.includes(`"mcp","${server}"`);
  return leads && planned.length > 0 ? entries[name] : undefined;
}

function tokenFor(
  client: ClientDescriptor,
  known: Connected | undefined,
  wish: Wish,
  entries: RawObject,
): { way: TokenWay; hash: string | null; made: string | null } {
  const variable = tokenVariable(client.id);
  const byReference = wish.token === 'variable' && client.http?.byReference != null;
  if (wish.mode === 'stdio') return { way: { kind: 'reference', variable }, hash: null, made: null };
  const renew = wish.renew === true || known?.tokenHash == null;
  if (byReference) {
    const made = renew ? newToken() : null;
    const hash = made === null ? (known?.tokenHash ?? null) : tokenHash(made);
    return { way: { kind: 'reference', variable }, hash, made };
  }
  const present = Object.values(entries)
    .map(literalTokenIn)
    .find((token) => token !== undefined && tokenHash(token) === known?.tokenHash);
  const token = renew || present === undefined ? newToken() : present;
  return { way: { kind: 'literal', token }, hash: tokenHash(token), made: token === present ? null : token };
}

async function written(
  dataDir: string,
  known: Connected | undefined,
  { client, file, now }: Wish,
  format: ConfigFormat,
  text: string | null,
  { change }: Planned,
): Promise<Change> {
  const first = known === undefined;
  if (change.after === text || change.after === null) {
    if (first) await keepBefore(dataDir, client.id, change.baseline);
    const record = { ...change.record, written: known?.written ?? (text === null ? null : sha256Hex(text)) };
    return { ...change, record };
  }
  // What there is to go back to: as it was, or, when somebody else wrote meanwhile, that without our entries.
  if (first) await keepBefore(dataDir, client.id, change.baseline);
  else if (text !== null && sha256Hex(text) !== known.written)
    await keepBefore(dataDir, client.id, withoutEntries(format, text, client.key, known));
  const mode = text === null ? null : ((await stat(file).catch(() => null))?.mode ?? null);
  const backup = first && text !== null ? await backUp(file, now) : null;
  const holdsSecret = change.record.tokenIn === 'file' && process.platform !== 'win32';
  // Closed before the secret is in it, not after.
  if (holdsSecret && mode !== null && (mode & 0o077) !== 0) await chmod(file, 0o600);
  await writeAtomic(file, change.after);
  const record: Connected = {
    ...change.record,
    written: sha256Hex(change.after),
    fileMode: known?.fileMode ?? (mode === null ? null : mode & 0o7777),
    backup: backup ?? change.record.backup,
  };
  return { ...change, backup, record };
}

/** A copy beside the file, named by the time, never over another one. Only its owner may read it. */
async function backUp(file: string, now: Date): Promise<string> {
  const target = await linkTarget(file);
  const stamp = now.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  for (let n = 0; ; n += 1) {
    const backup = `${target}.bak.${stamp}${n === 0 ? '' : `-${n}`}`;
    try {
      await copyFile(target, backup, constants.COPYFILE_EXCL);
      if (process.platform !== 'win32') await chmod(backup, 0o600);
      return backup;
    } catch (error) {
      if (codeOf(error) === 'EEXIST' && n < 100) continue;
      throw new FileError(`${backup} cannot be written: ${codeOf(error) ?? 'unknown error'}; nothing was changed`);
    }
  }
}

const sharedWith = ({ name }: ClientDescriptor, file: string, entry: string, other: string): ConnectError =>
  new ConnectError(
    'shared',
    `${file} is the file of ${other} as well, which is connected there with an entry ${entry}; ${name} finds that one too, or give its entries another name. Nothing was written`,
    [entry],
  );

const takenBy = ({ name }: ClientDescriptor, file: string, taken: readonly string[]): ConnectError =>
  new ConnectError(
    'taken',
    `${name} has ${taken.length === 1 ? 'an entry' : 'entries'} of its own called ${taken.join(', ')} in ${file}; nothing was written`,
    taken,
  );

/** The registry with one client changed; undefined takes it out. */
export function withClient(registry: Registry, id: string, record: Connected | undefined): Registry {
  const rest = Object.fromEntries(Object.entries(registry).filter(([one]) => one !== id));
  return record === undefined ? rest : { ...rest, [id]: record };
}
