/** Tells clients that a list changed: once for each real change, whatever servers announce. */
import { setImmediate } from 'node:timers';
import type { Lists, Shown } from './lists.ts';
import { metaOf } from './rpc.ts';

export type ListName = 'tools' | 'prompts' | 'resources';

/** Somebody who wants to hear of changes on one endpoint. */
export interface Listener {
  readonly server: string | undefined;
  changed(list: ListName): void;
}

export class Changes {
  readonly #lists: Lists;
  readonly #listeners: () => Iterable<Listener>;
  /** What the tools of an endpoint looked like when its clients were told last. */
  readonly #tools = new Map<string | undefined, string>();
  #looking = false;

  constructor(lists: Lists, listeners: () => Iterable<Listener>) {
    this.#lists = lists;
    this.#listeners = listeners;
  }

  /** Remembers what a new listener sees, so that only what comes later is a change. */
  watch(server: string | undefined): void {
    if (!this.#tools.has(server)) this.#tools.set(server, this.#looks(server));
  }

  /** Tools may have changed; looked at once for everything that happened in this turn. */
  toolsMayHave(): void {
    if (this.#looking) return;
    this.#looking = true;
    setImmediate(() => {
      this.#looking = false;
      this.#look();
    });
  }

  /** A server's list of prompts or resources differs from the one before. */
  listed(server: string, list: Exclude<ListName, 'tools'>): void {
    for (const listener of this.#listeners())
      if (listener.server === undefined || listener.server === server) listener.changed(list);
  }

  #look(): void {
    const listeners = [...this.#listeners()];
    const watched = new Set(listeners.map(({ server }) => server));
    for (const server of this.#tools.keys()) if (!watched.has(server)) this.#tools.delete(server);
    for (const server of watched) {
      const now = this.#looks(server);
      const before = this.#tools.get(server);
      if (before === now) continue;
      this.#tools.set(server, now);
      if (before === undefined) continue;
      for (const listener of listeners) if (listener.server === server) listener.changed('tools');
    }
  }

  #looks(server: string | undefined): string {
    return JSON.stringify(this.#lists.tools(server).shown.map(asListed));
  }
}

/** That a server went away changes no tool. */
function asListed({ entry }: Shown): unknown {
  const meta = metaOf(entry);
  if (meta === undefined || !('watchkeeper/stale' in meta)) return entry;
  const { 'watchkeeper/stale': _, ...rest } = meta;
  const { _meta, ...others } = entry;
  return Object.keys(rest).length === 0 ? others : { ...others, _meta: rest };
}
