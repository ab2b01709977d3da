/** Carries out what the model asks for, and tells it what became of it. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../api/client.ts';
import { isApiError, isUnreachable } from '../api/errors.ts';
import { newest } from '../cli/log.reader.ts';
import type { Act, Command, Load, Loaded, Message } from './state.ts';
import { prefixOf } from './tool.rows.ts';

/** Several facts in a row are one question. */
const settleMs = 30;

export interface ErrandOptions {
  readonly api: Client;
  readonly tell: (message: Message) => void;
  /** The daemon did not answer. */
  readonly lost: () => void;
  readonly openBrowser: (url: string) => Promise<boolean>;
  readonly startDaemon: () => Promise<void>;
  readonly ring: () => void;
  readonly wake: (afterMs: number) => void;
  readonly quit: () => void;
}

export interface Errands {
  run(command: Command): void;
  /** Ends what is still going on. */
  end(): void;
}

const textOf = (error: unknown): string => {
  if (isApiError(error)) return error.detail;
  return error instanceof Error ? error.message : String(error);
};

export function errandsFor(options: ErrandOptions): Errands {
  const { api, tell, lost } = options;
  const ended = new AbortController();
  let login: AbortController | null = null;

  const load = async (asked: Load): Promise<void> => {
    try {
      if (asked.what === 'status' || asked.what === 'held') await pause(settleMs, undefined, { signal: ended.signal });
      tell({ is: 'loaded', asked, found: await find(api, asked) });
    } catch (error) {
      if (ended.signal.aborted) return;
      if (isUnreachable(error)) lost();
      else tell({ is: 'not-loaded', asked, text: textOf(error) });
    }
  };

  const act = async (what: Act): Promise<void> => {
    try {
      tell({ is: 'done', act: what, ...(await doIt(api, what, options, ended.signal)) });
    } catch (error) {
      if (ended.signal.aborted) return;
      if (isUnreachable(error)) lost();
      tell({ is: 'failed', act: what, text: textOf(error) });
    }
  };

  const logIn = async (name: string): Promise<void> => {
    login?.abort();
    const own = new AbortController();
    login = own;
    const signal = AbortSignal.any([own.signal, ended.signal]);
    try {
      for await (const frame of api.login(name, { signal })) tell({ is: 'login', name, frame });
    } catch (error) {
      if (signal.aborted) return;
      tell({ is: 'login', name, frame: { done: true, ok: false, error: textOf(error) } });
    }
  };

  return {
    run(command) {
      switch (command.do) {
        case 'load':
          void load(command);
          return;
        case 'act':
          void act(command.act);
          return;
        case 'login':
          void logIn(command.name);
          return;
        case 'leave-login':
          login?.abort();
          return;
        case 'open':
          void options.openBrowser(command.url).then((ok) => tell({ is: 'opened', ok }));
          return;
        case 'bell':
          options.ring();
          return;
        case 'wake':
          options.wake(command.afterMs);
          return;
        case 'quit':
          options.quit();
          return;
      }
    },
    end: () => ended.abort(),
  };
}

async function find(api: Client, asked: Load): Promise<Loaded> {
  const at = 'at' in asked ? (asked.at ?? undefined) : undefined;
  switch (asked.what) {
    case 'status':
      return { what: 'status', data: await api.status() };
    case 'then':
      return { what: 'then', data: await api.status({ at }) };
    case 'config':
      return { what: 'config', data: await api.config() };
    case 'held':
      return { what: 'held', data: await api.calls({ state: 'held', limit: 1000 }) };
    case 'history':
      return { what: 'history', data: await api.history({ from: asked.from }) };
    case 'grants':
      return { what: 'grants', data: await api.allowlist(prefixOf(asked.name)) };
    case 'stderr':
      return { what: 'stderr', data: await api.stderr(asked.name) };
    case 'tools':
      return { what: 'tools', data: await api.tools({ server: asked.name, at }) };
    case 'why':
      return { what: 'why', data: await api.why({ name: asked.name, at }) };
    case 'timeline':
      return {
        what: 'timeline',
        data: await newest((query) => api.events(query), asked.count, { stream: `server-${asked.name}` }),
      };
  }
}

type Outcome = Pick<Extract<Message, { is: 'done' }>, 'reconnected' | 'tested'>;

async function doIt(api: Client, act: Act, options: ErrandOptions, signal: AbortSignal): Promise<Outcome> {
  switch (act.kind) {
    case 'reconnect':
      return { reconnected: await api.reconnect({ name: act.name ?? undefined }) };
    case 'enable':
      await api.enableServer(act.name);
      return {};
    case 'disable':
      await api.disableServer(act.name);
      return {};
    case 'remove':
      await api.removeServer(act.name);
      return {};
    case 'logout':
      await api.logOut(act.name);
      return {};
    case 'grant':
      await api.replaceGrants(prefixOf(act.name), act.entries);
      return {};
    case 'approve':
      await api.approve(act.id, act.remember);
      return {};
    case 'deny':
      await api.deny(act.id, act.reason === '' ? undefined : act.reason);
      return {};
    case 'test':
      return { tested: await api.testServer(act.entry, { name: act.of ?? undefined, signal }) };
    case 'save':
      await api.addServer(act.name, act.entry);
      return {};
    case 'client':
      await api.giveClient(act.name, { id: act.id, secret: act.secret || undefined, redirectUri: act.redirect });
      return {};
    case 'callback':
      await api.pasteCallback(act.name, act.url);
      return {};
    case 'start-daemon':
      await options.startDaemon();
      return {};
  }
}
