/** Reads what the model asks for. A question that is under way is not asked twice at once: a burst of facts costs two. */
import type { Client } from '../api/client.ts';
import { isApiError, isUnreachable } from '../api/errors.ts';
import type { LogEvent } from '../api/follow.ts';
import { prefixOf } from './grants.ts';
import type { Command, Message } from './model.ts';

export type Load = Extract<Command, { readonly do: `load-${string}` }>;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Pages of the log that are read of one server, at most, and how many changes of state they begin before now. */
const MOST_PAGES = 5;
const CHANGES = 200;
/** Facts come in bursts: one question answers them all. */
const GATHER_MS = 30;

/** Facts of one server of the last day, or of its last changes of state when there were many. */
async function factsOf(api: Client, name: string, now: number): Promise<LogEvent[]> {
  const { intervals } = await api.history({ name, from: new Date(now - DAY).toISOString() });
  const begin = intervals.slice(-CHANGES).find(({ position }) => position !== null)?.position ?? 1;
  const found: LogEvent[] = [];
  let after: number | null = begin - 1;
  for (let page = 0; page < MOST_PAGES && after !== null; page += 1) {
    const answer: Awaited<ReturnType<Client['events']>> = await api.events({
      after,
      stream: `server-${name}`,
      limit: 1000,
    });
    found.push(...answer.events);
    after = answer.next;
  }
  return found;
}

async function read(api: Client, load: Load, now: number): Promise<Message> {
  const at = 'at' in load ? (load.at ?? null) : null;
  switch (load.do) {
    case 'load-servers':
      return { kind: 'servers', answer: await api.status() };
    case 'load-config':
      return { kind: 'config', answer: await api.config() };
    case 'load-history':
      return { kind: 'history', answer: await api.history({ from: new Date(now - HOUR).toISOString() }) };
    case 'load-held':
      return { kind: 'held', calls: (await api.calls({ state: 'held', limit: 100 })).calls };
    case 'load-tools': {
      const [{ tools }, { tool }] = await Promise.all([
        api.tools({ server: load.name, at: at ?? undefined }),
        api.allowlist(prefixOf(load.name)),
      ]);
      return { kind: 'tools', name: load.name, at, tools, entries: tool.entries, suspended: tool.suspended };
    }
    case 'load-facts':
      return { kind: 'facts', name: load.name, facts: await factsOf(api, load.name, now) };
    case 'load-as-of': {
      if (at === null) return { kind: 'servers', answer: await api.status() };
      const { servers } = await api.status({ at });
      return { kind: 'as-of', name: load.name, at, status: servers.find(({ name }) => name === load.name) ?? null };
    }
    case 'load-stderr':
      return { kind: 'stderr', name: load.name, stderr: await api.stderr(load.name) };
    case 'load-why':
      return { kind: 'why', name: load.name, at, why: await api.why({ name: load.name, at: at ?? undefined }) };
  }
}

/** A daemon that is away is told by the link; a server that is gone by the list. */
const isQuiet = (error: unknown): boolean => isUnreachable(error) || (isApiError(error) && error.status === 404);

export interface Loader {
  load(load: Load): void;
}

export function loader(api: Client, hear: (message: Message) => void, now: () => number): Loader {
  const running = new Set<string>();
  const again = new Map<string, Load>();
  const start = async (key: string, load: Load): Promise<void> => {
    running.add(key);
    try {
      await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
      again.delete(key);
      hear(await read(api, load, now()));
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (!isQuiet(error)) hear({ kind: 'not-loaded', name: 'name' in load ? load.name : null, text });
    } finally {
      running.delete(key);
      const next = again.get(key);
      again.delete(key);
      if (next !== undefined) void start(key, next);
    }
  };
  return {
    load(load) {
      const key = JSON.stringify(load);
      if (running.has(key)) again.set(key, load);
      else void start(key, load);
    },
  };
}
