/** `allow_tool` and what its lines are bound to: file edits go out, edits by hand come in, and all of it becomes facts. */
import type { Subscription } from 'rxjs';
import { Actor } from '../actors/actor.ts';
import type { AllowlistCommand, SeenServer, SeenTool } from '../actors/allowlist/allowlist.commands.ts';
import { decideAllowlist } from '../actors/allowlist/allowlist.decide.ts';
import { allowlistRules } from '../actors/allowlist/allowlist.rules.ts';
import { type AllowlistContext, type Grant, grantsOf } from '../actors/allowlist/allowlist.state.ts';
import { prefixOf, serverOfPrefix } from '../actors/allowlist/entry.ts';
import type { Desk } from '../actors/desk.ts';
import type { Head } from '../actors/head.ts';
import { isRefusal } from '../actors/refusal.ts';
import { addEntry, allowEntries, removeServer, replacePrefix } from '../config/allow-file.ts';
import { FileError } from '../config/files.ts';
import { FileLocked } from '../config/lock.ts';
import { updateFile } from '../config/update.ts';
import { type FileContent, readOwn, watchFile } from '../config/watch.ts';
import type { AllowlistFact, Binding } from '../events/allowlist.events.ts';
import { Problem } from '../http/problem.ts';
import { isStill } from './still.ts';

export interface AllowlistOptions {
  readonly file: string;
  /** Whether lines found in the file count; grants given through the daemon count anyway. */
  readonly trusted: boolean;
  readonly desk: Desk;
  readonly head: Head<AllowlistContext> | undefined;
  /** What is listed now. */
  readonly seen: () => { tools: readonly SeenTool[]; servers: readonly SeenServer[] };
  readonly warn: (message: string) => void;
}

export class Allowlist {
  readonly #options: AllowlistOptions;
  readonly #actor: Actor<AllowlistContext, AllowlistFact, AllowlistCommand>;
  #known: FileContent = { kind: 'missing' };
  #watch: Subscription | null = null;
  readonly #removals = new Set<Promise<void>>();

  constructor(options: AllowlistOptions) {
    this.#options = options;
    this.#actor = new Actor({
      stream: 'allowlist',
      desk: options.desk,
      rules: allowlistRules,
      head: options.head,
      keepHead: true,
    });
  }

  /** Sorted by entry. */
  get grants(): readonly Grant[] {
    return grantsOf(this.#actor.head.context);
  }

  /** The grants that could cover a tool. */
  grantsFor(server: string, name: string): readonly Grant[] {
    const { grants } = this.#actor.head.context;
    return [grants[name], grants[`${prefixOf(server)}*`]].filter((grant) => grant !== undefined);
  }

  async load(): Promise<void> {
    await this.#take(await readOwn(this.#options.file));
  }

  watch(): void {
    const { file } = this.#options;
    this.#watch = watchFile(file, { known: this.#known, settleMs: 150, reader: readOwn }).subscribe(async (content) => {
      if (await isStill(file, content, readOwn)) await this.#take(content);
    });
  }

  unwatch(): void {
    this.#watch?.unsubscribe();
  }

  /** Ties grants to what is listed now, and suspends those whose server or tool changed. */
  async bind(): Promise<void> {
    await Promise.all(this.#removals);
    if (this.grants.length > 0) await this.#actor.report({ type: 'BindSeen', ...this.#options.seen() }, undefined);
  }

  /** Replaces the entries of one server, all or nothing; other lines of the file stay as they are. */
  async replace(prefix: string, entries: readonly string[], by: string): Promise<readonly string[]> {
    const command: AllowlistCommand = { type: 'ReplacePrefix', prefix, entries, by };
    const judged = decideAllowlist(this.#actor.head, command);
    if (isRefusal(judged)) throw new Problem('prefix-invalid', judged.detail);
    const undo = await this.#edit((text) => replacePrefix(text, prefix, entries));
    await this.#tell(command, undo);
    await this.bind();
    const server = serverOfPrefix(prefix);
    return this.grants.filter((grant) => grant.server === server).map(({ entry }) => entry);
  }

  /** A person approved a call and wants the same to run from now on. */
  async remember(entry: string, binding: Binding, by: string): Promise<void> {
    const undo = await this.#edit((text) => addEntry(text, entry));
    await this.#tell({ type: 'Remember', entry, binding, by }, undo);
  }

  /** A server that is gone leaves no trust behind for the next one of its name. */
  removeServer(server: string): Promise<void> {
    const removal = this.#removeServer(server).finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
    return removal;
  }

  async #removeServer(server: string): Promise<void> {
    if (!this.grants.some((grant) => grant.server === server)) return;
    try {
      await this.#edit((text) => removeServer(text, server));
    } catch (error) {
      this.#options.warn(
        `${this.#options.file}: the grants of server "${server}" could not be removed: ${String(error)}`,
      );
    }
    await this.#actor.report({ type: 'RemoveServer', server, by: 'daemon' }, undefined);
  }

  async #take(content: FileContent): Promise<void> {
    if (content.kind === 'unusable') {
      // A list that cannot be read says nothing new; what it said before stays as it is.
      this.#options.warn(`${this.#options.file}: ${content.message}`);
      return;
    }
    this.#known = content;
    const found = content.kind === 'text' ? allowEntries(content.text).map(({ text }) => text) : [];
    const known = new Set(this.grants.map(({ entry }) => entry));
    const entries = this.#options.trusted ? found : found.filter((entry) => known.has(entry));
    if (entries.length < found.length) {
      this.#options.warn(
        `${this.#options.file}: ${found.length - entries.length} lines do not count, because the file lies outside your home folder. Read it, then: watchkeeper config trust`,
      );
    }
    await this.#actor.report({ type: 'SyncFile', entries, by: 'file' }, undefined);
    await this.bind();
  }

  /** Resolves with the way back, which does nothing once somebody else has written. */
  async #edit(change: (text: string) => string): Promise<() => Promise<unknown>> {
    let old = '';
    try {
      const text = await updateFile(this.#options.file, (before) => {
        old = before ?? '';
        const after = change(old);
        return before === null && after === '' ? null : after;
      });
      this.#known = text === null ? { kind: 'missing' } : { kind: 'text', text };
      return () => this.#edit((now) => (now === text ? old : now));
    } catch (error) {
      if (error instanceof FileLocked) throw new Problem('config-locked', error.message, {}, { cause: error });
      if (error instanceof FileError) throw new Problem('config-unreadable', error.message, {}, { cause: error });
      throw error;
    }
  }

  /** What is refused must not stay in the file, where it would count at the next start. */
  async #tell(command: AllowlistCommand, undo: () => Promise<unknown>): Promise<void> {
    const told = await this.#actor.tell(command, undefined);
    if (!isRefusal(told)) return;
    await undo();
    throw new Problem(told.refused === 'log-unavailable' ? 'log-unavailable' : 'prefix-invalid', told.detail);
  }
}
