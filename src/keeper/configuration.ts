/** `mcp.json` as it runs: read, watched, edited; every difference is a fact and is handed to the supervisor. */
import type { Subscription } from 'rxjs';
import type { Actor } from '../actors/actor.ts';
import { diffConfig, isSame } from '../config/diff.ts';
import { configEditor } from '../config/edit.ts';
import { EditError } from '../config/edit-text.ts';
import { readEntry } from '../config/entry.read.ts';
import type { FileProblem, LoadedConfig, LoadedEntry } from '../config/entry.ts';
import { FileError } from '../config/files.ts';
import { FileLocked } from '../config/lock.ts';
import { unmaskEntry } from '../config/mask.ts';
import { emptyConfig, parseConfig } from '../config/parse.ts';
import type { RawObject } from '../config/raw.ts';
import { type FileContent, read, watchFile } from '../config/watch.ts';
import type { ConfigFact } from '../events/daemon.events.ts';
import { Problem } from '../http/problem.ts';
import { isStill } from './still.ts';

export interface ConfigurationOptions {
  readonly file: string;
  readonly journal: Actor<null, ConfigFact, ConfigFact>;
  /** What an entry becomes beside servers of the daemon's own; as it is when left out. */
  readonly beside?: (entry: LoadedEntry) => LoadedEntry;
  /** The entries changed; resolves when they have been handed over. */
  readonly onLoaded: (config: LoadedConfig) => Promise<void>;
  readonly warn: (message: string) => void;
  /** Values an entry is filled in with, which are shown as `***` wherever they stand. */
  readonly secretsOf?: (name: string) => readonly string[];
}

export class Configuration {
  readonly #options: ConfigurationOptions;
  readonly #editor: ReturnType<typeof configEditor>;
  #config: LoadedConfig = emptyConfig;
  #raw: ReadonlyMap<string, unknown> = new Map();
  #problem: FileProblem | null = null;
  #known: FileContent = { kind: 'missing' };
  #work: Promise<void> = Promise.resolve();
  #watch: Subscription | null = null;
  /** Whether the entries of any file have been handed over. */
  #handedOver = false;

  constructor(options: ConfigurationOptions) {
    this.#options = options;
    this.#editor = configEditor(options.file);
  }

  get config(): LoadedConfig {
    return this.#config;
  }

  /** Entries as written; they hold literal secrets. */
  get raw(): ReadonlyMap<string, unknown> {
    return this.#raw;
  }

  get problem(): FileProblem | null {
    return this.#problem;
  }

  get exists(): boolean {
    return this.#known.kind !== 'missing';
  }

  /** Reads the file for the first time. A file that cannot be read leaves zero servers and says why. */
  async load(): Promise<void> {
    await this.#take(await read(this.#options.file), 'start');
  }

  watch(): void {
    const isWhole = (text: string): boolean => parseConfig(text).ok;
    this.#watch = watchFile(this.#options.file, { known: this.#known, isWhole }).subscribe(
      (content) => void this.#take(content, 'watch'),
    );
  }

  unwatch(): void {
    this.#watch?.unsubscribe();
  }

  async set(name: string, posted: RawObject): Promise<void> {
    // A placeholder for a stored value is judged once the stored value is in its place, under the lock of the file.
    await this.#edit(() =>
      this.#editor.setEntry(name, (stored) => {
        const raw = this.#unmask(name, posted, stored);
        judged(name, raw, this.#options.beside);
        return raw;
      }),
    );
  }

  /** An entry with the values of the one that is loaded now where it says `***`; throws what is wrong with it. */
  unmasked(name: string, posted: RawObject): RawObject {
    return this.#unmask(name, posted, this.#raw.get(name));
  }

  #unmask(name: string, posted: RawObject, stored: unknown): RawObject {
    const unmasked = unmaskEntry(posted, stored, this.#options.secretsOf?.(name));
    if (!unmasked.ok) throw new Problem('entry-invalid', unmasked.problem.message, { field: unmasked.problem.field });
    return unmasked.raw;
  }

  async remove(name: string): Promise<void> {
    await this.#edit(async () => {
      const text = await this.#editor.removeEntry(name);
      if (text === null) throw unknownServer(name);
      return text;
    });
  }

  async setDisabled(name: string, disabled: boolean): Promise<void> {
    if (!this.#raw.has(name)) throw unknownServer(name);
    await this.#edit(() => this.#editor.setDisabled(name, disabled));
  }

  /** One edit at a time; the answer means: saved and handed over. */
  #edit(edit: () => Promise<string>): Promise<void> {
    return this.#next(async () => {
      await this.#refuseWhileBroken();
      let text: string;
      try {
        text = await edit();
      } catch (error) {
        throw asProblem(error);
      }
      await this.#apply({ kind: 'text', text }, 'edit');
    });
  }

  /** An edit of a file that says nothing would make itself all there is, and end every server that still runs. */
  async #refuseWhileBroken(): Promise<void> {
    if (this.#problem === null) return;
    const content = await read(this.#options.file);
    if (content.kind === 'text' && parseConfig(content.text).ok) return;
    throw new Problem('config-invalid', `${this.#options.file}: ${this.#problem.message}`);
  }

  #take(content: FileContent, from: 'start' | 'watch'): Promise<void> {
    return this.#next(async () => {
      if (from === 'start' || (await isStill(this.#options.file, content))) await this.#apply(content, from);
    });
  }

  #next(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => {});
    return done;
  }

  async #apply(content: FileContent, from: 'start' | 'watch' | 'edit'): Promise<void> {
    const before = this.#known;
    this.#known = content;
    const parsed = this.#parse(content, before);
    if (!parsed.ok) return this.#reject(parsed.problem);
    const { raw } = parsed;
    const { beside = asItIs } = this.#options;
    const config = { ...parsed.config, entries: parsed.config.entries.map(beside) };
    this.#problem = null;
    const diff = diffConfig(this.#config, config);
    this.#config = config;
    this.#raw = raw;
    for (const warning of warningsOf(config)) this.#options.warn(warning);
    if (!isSame(diff) && from !== 'start') {
      const data = { ...mutable(diff), warnings: warningsOf(config) };
      await this.#options.journal.report({ type: 'ConfigChanged', data }, undefined);
    }
    // Only a file that can be read says which servers are gone: without one, nothing is forgotten and nothing runs.
    if (content.kind !== 'text' || (this.#handedOver && isSame(diff))) return;
    this.#handedOver = true;
    await this.#options.onLoaded(config);
  }

  #parse(content: FileContent, before: FileContent): ReturnType<typeof parseConfig> {
    switch (content.kind) {
      case 'text':
        return parseConfig(content.text);
      case 'unusable':
        return { ok: false, problem: { message: content.message, line: null, column: null } };
      case 'missing':
        // Nothing yet is nothing to run. A file that was there and is gone is no order to forget every server and its grants.
        if (before.kind === 'missing') return { ok: true, config: emptyConfig, raw: new Map() };
        return {
          ok: false,
          problem: {
            message: `${this.#options.file} is gone; the servers keep running. Put it back.`,
            line: null,
            column: null,
          },
        };
    }
  }

  async #reject(problem: FileProblem): Promise<void> {
    this.#problem = problem;
    this.#options.warn(`${this.#options.file}: ${problem.message}`);
    await this.#options.journal.report({ type: 'ConfigRejected', data: problem }, undefined);
  }
}

/** The entry as it would be loaded; throws what is wrong with it. */
export function judged(name: string, raw: RawObject, beside = asItIs): LoadedEntry {
  const loaded = beside(readEntry(name, raw));
  if (loaded.problem) throw new Problem('entry-invalid', loaded.problem.message, { field: loaded.problem.field });
  return loaded;
}

const asItIs = (entry: LoadedEntry): LoadedEntry => entry;

const unknownServer = (name: string): Problem =>
  new Problem('unknown-server', `There is no server "${name}". See the configured names: watchkeeper status`);

function asProblem(error: unknown): unknown {
  if (error instanceof Problem) return error;
  if (error instanceof EditError) return new Problem('config-invalid', error.message, {}, { cause: error });
  if (error instanceof FileLocked) return new Problem('config-locked', error.message, {}, { cause: error });
  if (error instanceof FileError) return new Problem('config-unreadable', error.message, {}, { cause: error });
  return error;
}

function warningsOf(config: LoadedConfig): string[] {
  return [
    ...config.warnings,
    ...config.entries.flatMap(({ name, warnings }) => warnings.map((warning) => `server "${name}": ${warning}`)),
  ];
}

const mutable = ({ added, changed, removed }: ReturnType<typeof diffConfig>) => ({
  added: [...added],
  changed: [...changed],
  removed: [...removed],
});
