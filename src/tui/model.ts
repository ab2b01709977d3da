/** What the screen is computed from: a fold of facts, answers, keys and the clock. Pure. */
import type { Call, Client, History, ServerStatus, Stderr, Tool, Why } from '../api/client.ts';
import type { LogEvent } from '../api/follow.ts';
import type { Field } from './field.ts';
import type { Form } from './form.ts';
import type { Input } from './keys.ts';
import type { Stretch } from './spark.ts';

export type Entry = Readonly<Record<string, unknown>>;
export const tabs = ['tools', 'timeline', 'stderr', 'why', 'config', 'login'] as const;
export type Tab = (typeof tabs)[number];
export const sorts = ['name', 'state', 'since', 'tools'] as const;
export type Sort = (typeof sorts)[number];

export interface ListScreen {
  /** By name, so that the place is kept when the list changes. */
  readonly selected: string | null;
  readonly filter: string;
  readonly sort: Sort;
}

/** The grants of one server as they stand in the file, and as they are ticked. */
export interface Grants {
  readonly saved: readonly string[];
  readonly suspended: readonly string[];
  readonly ticked: readonly string[];
}

/** One server, opened. */
export interface ServerScreen {
  readonly name: string;
  readonly tab: Tab;
  /** null: not read yet. */
  readonly tools: readonly Tool[] | null;
  readonly grants: Grants | null;
  readonly row: number;
  readonly facts: readonly LogEvent[] | null;
  /** Position of the fact the person went back to; null: now. */
  readonly at: number | null;
  readonly asOf: ServerStatus | null;
  readonly why: Why | null;
  /** Of the process that runs now; null: not read yet. */
  readonly stderr: Stderr | null;
  /** Lines above what is seen; TO_END follows what comes. */
  readonly scroll: number;
}

/** More lines than any text has: its end is seen, also when it grows. */
export const TO_END = Number.MAX_SAFE_INTEGER;

/** A client registered by hand, being typed. */
export interface ClientForm {
  readonly fields: readonly [id: Field, secret: Field, redirect: Field];
  readonly focus: number;
}

export interface LoginScreen {
  readonly name: string;
  readonly url: string | null;
  readonly field: Field;
  readonly said: Said | null;
  readonly since: number;
}

/** What a trial of an entry came to. */
export interface Trial {
  readonly ok: boolean;
  readonly tools: readonly string[];
  readonly error: string | null;
  readonly stderr: string;
}

export interface AddScreen {
  readonly form: Form;
  /** `trying`: it is being tried now. */
  readonly trial: Trial | 'trying' | null;
}

export interface Said {
  readonly tone: 'good' | 'bad' | 'quiet';
  readonly text: string;
  /** ms since the epoch: it goes away then. */
  readonly until: number;
}

/** A question with two answers; the default is no. */
export interface Question {
  readonly text: string;
  readonly about: string;
  readonly yes: readonly Command[];
  /** After a yes the form is gone with what was typed in it. */
  readonly discards?: true;
}

export interface HeldPanel {
  readonly calls: readonly Call[];
  /** Calls that were put off, by id. */
  readonly later: readonly string[];
  /** The call that is shown. */
  readonly shown: string | null;
  /** Keys count from this time on (ms since the epoch): nobody answers a question by accident. */
  readonly armedAt: number;
  readonly scroll: number;
  /** The reason of a refusal, while it is typed. */
  readonly reason: Field | null;
  /** The panel has the keyboard though a text is being typed below it. */
  readonly focused: boolean;
}

export interface Model {
  readonly columns: number;
  readonly rows: number;
  /** ms since the epoch. */
  readonly now: number;
  readonly link: { readonly up: boolean; readonly since: number };
  readonly servers: readonly ServerStatus[] | null;
  readonly entries: Readonly<Record<string, Entry>>;
  readonly tokens: Readonly<Record<string, boolean>>;
  /** Where logins come back to. */
  readonly redirect: string;
  readonly configProblem: string | null;
  readonly past: Readonly<Record<string, readonly Stretch[]>>;
  readonly held: HeldPanel;
  readonly list: ListScreen;
  readonly server: ServerScreen | null;
  readonly add: AddScreen | null;
  readonly login: LoginScreen | null;
  readonly client: ClientForm | null;
  /** The line at the bottom: a filter or a command. */
  readonly line: Field | null;
  readonly question: Question | null;
  readonly help: { readonly scroll: number } | null;
  readonly said: Said | null;
  readonly bell: boolean;
  /** A server that is to be opened once its name is known to exist. */
  readonly opening: string | null;
}

/** Something to be asked of the daemon, or done to the terminal. */
export type Command =
  | { readonly do: 'load-servers' | 'load-config' | 'load-history' | 'load-held' }
  | { readonly do: 'load-tools' | 'load-facts' | 'load-stderr'; readonly name: string; readonly at?: number | null }
  | { readonly do: 'load-as-of' | 'load-why'; readonly name: string; readonly at: number | null }
  | { readonly do: 'reconnect'; readonly name: string | null }
  | { readonly do: 'enable' | 'disable' | 'remove' | 'log-out'; readonly name: string }
  | { readonly do: 'grant'; readonly name: string; readonly entries: readonly string[] }
  | { readonly do: 'try' | 'save'; readonly name: string; readonly entry: Entry; readonly replaces: boolean }
  | { readonly do: 'approve'; readonly id: string; readonly remember: 'once' | 'tool' | 'server' }
  | { readonly do: 'deny'; readonly id: string; readonly reason: string }
  | { readonly do: 'log-in'; readonly name: string }
  | { readonly do: 'end-login' }
  | { readonly do: 'paste-callback'; readonly name: string; readonly url: string }
  | {
      readonly do: 'give-client';
      readonly name: string;
      readonly id: string;
      readonly secret: string;
      readonly redirect: string;
    }
  | { readonly do: 'open'; readonly url: string }
  | { readonly do: 'copy'; readonly text: string }
  | { readonly do: 'ring' | 'suspend' }
  | { readonly do: 'leave' };

type Answered<Method extends keyof Client> = Client[Method] extends (...args: never[]) => Promise<infer Value>
  ? Value
  : never;

/** Something happened. */
export type Message =
  | { readonly kind: 'input'; readonly input: Input; readonly at: number }
  | { readonly kind: 'tick'; readonly at: number }
  | { readonly kind: 'size'; readonly columns: number; readonly rows: number }
  | { readonly kind: 'link'; readonly up: boolean; readonly at: number }
  | { readonly kind: 'fact'; readonly fact: LogEvent }
  | { readonly kind: 'servers'; readonly answer: Answered<'status'> }
  | { readonly kind: 'config'; readonly answer: Answered<'config'> }
  | { readonly kind: 'history'; readonly answer: History }
  | { readonly kind: 'held'; readonly calls: readonly Call[] }
  | {
      readonly kind: 'tools';
      readonly name: string;
      readonly at: number | null;
      readonly tools: readonly Tool[];
      readonly entries: readonly string[];
      readonly suspended: readonly string[];
    }
  | { readonly kind: 'facts'; readonly name: string; readonly facts: readonly LogEvent[] }
  | { readonly kind: 'as-of'; readonly name: string; readonly at: number; readonly status: ServerStatus | null }
  | { readonly kind: 'why'; readonly name: string; readonly at: number | null; readonly why: Why }
  | { readonly kind: 'stderr'; readonly name: string; readonly stderr: Stderr }
  | { readonly kind: 'tried'; readonly name: string; readonly trial: Trial }
  | { readonly kind: 'removed'; readonly name: string }
  | { readonly kind: 'saved'; readonly name: string; readonly oauth: boolean }
  | { readonly kind: 'granted'; readonly name: string; readonly entries: readonly string[] }
  | { readonly kind: 'login-url'; readonly name: string; readonly url: string }
  | { readonly kind: 'login-over'; readonly name: string; readonly ok: boolean; readonly text: string }
  | { readonly kind: 'client-given'; readonly name: string; readonly redirect: string }
  | { readonly kind: 'said'; readonly text: string; readonly tone: Said['tone'] }
  | { readonly kind: 'not-loaded'; readonly name: string | null; readonly text: string }
  | { readonly kind: 'typed'; readonly words: readonly string[] };

export interface Step {
  readonly model: Model;
  readonly commands: readonly Command[];
}

/** The model after a step, and what is to be done. */
export const step = (model: Model, ...commands: readonly Command[]): Step => ({ model, commands });

export interface Beginning {
  readonly columns: number;
  readonly rows: number;
  readonly now: number;
  readonly bell: boolean;
}

export const begin = ({ columns, rows, now, bell }: Beginning): Model => ({
  columns,
  rows,
  now,
  bell,
  link: { up: true, since: now },
  servers: null,
  entries: {},
  tokens: {},
  redirect: '',
  configProblem: null,
  past: {},
  held: { calls: [], later: [], shown: null, armedAt: 0, scroll: 0, reason: null, focused: false },
  list: { selected: null, filter: '', sort: 'name' },
  server: null,
  add: null,
  login: null,
  client: null,
  line: null,
  question: null,
  help: null,
  said: null,
  opening: null,
});

/** How long a message stays, in ms. */
const SAID_MS = 6_000;

/** A message in the last line but one. */
export const say = (model: Model, text: string, tone: Said['tone'] = 'good'): Model => ({
  ...model,
  said: { text, tone, until: model.now + (tone === 'bad' ? 2 * SAID_MS : SAID_MS) },
});

/** Everything that is shown, asked for anew: after a start, and when the daemon is back. */
export const loadAll = ({ server }: Model): readonly Command[] => [
  { do: 'load-servers' },
  { do: 'load-config' },
  { do: 'load-history' },
  { do: 'load-held' },
  ...(server === null ? [] : loadServer(server.name, server.at)),
];

/** What an opened server needs. */
export const loadServer = (name: string, at: number | null): readonly Command[] => [
  { do: 'load-tools', name, at },
  { do: 'load-facts', name },
  { do: 'load-why', name, at },
];
