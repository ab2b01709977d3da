/** All that the terminal view knows, and what it can be told and can ask for: plain data. */
import type {
  Allowlist,
  Call,
  Calls,
  Config,
  Events,
  History,
  Reconnected,
  ServerStatus,
  Status,
  Stderr,
  TestResult,
  Tool,
  Tools,
  Why,
} from '../api/client.ts';
import type { LoginFrame } from '../api/login.ts';
import type { Draft, Entry, FieldId } from './entry.draft.ts';
import type { Field } from './field.ts';
import type { Input } from './keys.ts';
import type { Tone } from './line.ts';
import type { Stretch } from './spark.ts';

export type Event = Events['events'][number];

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** What does not change while the view is open. */
export interface Surroundings {
  readonly configFile: string;
  /** Where logins come back to unless somebody says otherwise. */
  readonly callback: string;
}

export const sorts = ['name', 'state', 'since', 'tools'] as const;
export type Sort = (typeof sorts)[number];

export const tabs = ['tools', 'timeline', 'stderr', 'why', 'config', 'login'] as const;
export type Tab = (typeof tabs)[number];

/** One server that is looked at. What was not loaded yet is null. */
export interface Opened {
  readonly name: string;
  readonly tab: Tab;
  readonly tools: {
    readonly list: readonly Tool[] | null;
    readonly entries: readonly string[] | null;
    readonly suspended: readonly string[];
    /** Entries as they would be saved; null as long as nothing was changed. */
    readonly ticked: ReadonlySet<string> | null;
    readonly cursor: number;
    readonly filter: string;
  };
  readonly timeline: {
    /** Ascending. */
    readonly events: readonly Event[] | null;
    /** Nothing older is in the log. */
    readonly whole: boolean;
    /** Position of the fact that is marked; null: always the newest. */
    readonly cursor: number | null;
  };
  /** The moment that is looked at instead of the present. `status` undefined: not loaded yet; null: not known then. */
  readonly moment: { readonly position: number; readonly at: string; readonly status?: ServerStatus | null } | null;
  readonly why: Why | null;
  readonly stderr: Stderr | null;
  /** Lines of the present tab above the top. */
  readonly scroll: number;
}

export type Focus = FieldId | 'save';

/** An entry that is being made or changed. */
export interface Form {
  readonly draft: Draft;
  /** The server whose entry it is; null for a new one. */
  readonly of: string | null;
  readonly focus: Focus;
  readonly field: Field;
  /** Fields that were left once: what is wrong with them is said. */
  readonly touched: ReadonlySet<Focus>;
  readonly phase:
    | { readonly at: 'form' }
    | { readonly at: 'testing'; readonly since: number; readonly attempt: number }
    | { readonly at: 'tested'; readonly result: TestResult; readonly scroll: number }
    | { readonly at: 'saving' };
  readonly note: { readonly text: string; readonly tone: Tone } | null;
  readonly showSecret: boolean;
}

export type ClientField = 'id' | 'secret' | 'redirect' | 'save';

export interface ClientForm {
  readonly name: string;
  readonly id: string;
  readonly secret: string;
  readonly redirect: string;
  readonly focus: ClientField;
  readonly field: Field;
  readonly note: string | null;
  readonly busy: boolean;
}

export interface Login {
  readonly name: string;
  readonly url: string | null;
  /** What became of opening the browser. */
  readonly browser: 'opened' | 'none' | null;
  readonly field: Field;
  readonly note: string | null;
  readonly ended: Extract<LoginFrame, { done: true }> | null;
}

export type Screen =
  | { readonly at: 'servers' }
  | { readonly at: 'server'; readonly opened: Opened }
  | { readonly at: 'add'; readonly form: Form }
  | { readonly at: 'client'; readonly form: ClientForm }
  | { readonly at: 'login'; readonly login: Login };

/** A question with yes and no, no being the default. */
export type Question =
  | { readonly about: 'remove'; readonly name: string }
  | { readonly about: 'logout'; readonly name: string }
  | { readonly about: 'leave-form' };

export interface Held {
  /** Oldest first. */
  readonly calls: readonly Call[];
  /** Ids that were put off. */
  readonly later: ReadonlySet<string>;
  /** Ids the bell rang for. */
  readonly known: ReadonlySet<string>;
  /** From this time on keys decide, ms since the epoch. */
  readonly armedAt: number;
  /** Why a call is denied, while it is being typed. */
  readonly reason: Field | null;
  /** The call about which the daemon is being told. */
  readonly deciding: string | null;
  readonly scroll: number;
}

export interface Notice {
  readonly text: string;
  readonly tone: Tone;
  readonly until: number;
}

export interface Model {
  readonly size: Size;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly around: Surroundings;
  /** `since`: of what `up` says. */
  readonly daemon: { readonly up: boolean; readonly since: number; readonly starting: boolean };
  readonly status: readonly ServerStatus[] | null;
  readonly config: Config | null;
  readonly stretches: Readonly<Record<string, readonly Stretch[]>>;
  /** What is being loaded, and whether it must be loaded once more. */
  readonly pending: Readonly<Record<string, 'asked' | 'again'>>;
  readonly list: { readonly selected: string | null; readonly filter: string; readonly sort: Sort };
  readonly screen: Screen;
  readonly held: Held;
  readonly asking: Question | null;
  /** What is typed after `/`. */
  readonly typing: Field | null;
  readonly help: boolean;
  readonly notice: Notice | null;
  readonly bell: boolean;
  /** Counts tests of connections, so that a late answer is known. */
  readonly attempts: number;
}

export type Load =
  | { readonly do: 'load'; readonly what: 'status' | 'config' | 'held' }
  | { readonly do: 'load'; readonly what: 'history'; readonly from: string }
  | { readonly do: 'load'; readonly what: 'grants' | 'stderr'; readonly name: string }
  | { readonly do: 'load'; readonly what: 'tools' | 'why'; readonly name: string; readonly at: number | null }
  | { readonly do: 'load'; readonly what: 'timeline'; readonly name: string; readonly count: number }
  | { readonly do: 'load'; readonly what: 'then'; readonly name: string; readonly at: number };

export type Loaded =
  | { readonly what: 'status' | 'then'; readonly data: Status }
  | { readonly what: 'config'; readonly data: Config }
  | { readonly what: 'held'; readonly data: Calls }
  | { readonly what: 'history'; readonly data: History }
  | { readonly what: 'grants'; readonly data: Allowlist }
  | { readonly what: 'stderr'; readonly data: Stderr }
  | { readonly what: 'tools'; readonly data: Tools }
  | { readonly what: 'why'; readonly data: Why }
  | { readonly what: 'timeline'; readonly data: readonly Event[] };

/** What changes something at the daemon. */
export type Act =
  | { readonly kind: 'reconnect'; readonly name: string | null }
  | { readonly kind: 'enable' | 'disable' | 'remove' | 'logout'; readonly name: string }
  | { readonly kind: 'grant'; readonly name: string; readonly entries: readonly string[] }
  | { readonly kind: 'approve'; readonly id: string; readonly remember: 'once' | 'tool' | 'server' }
  | { readonly kind: 'deny'; readonly id: string; readonly reason: string }
  | { readonly kind: 'test'; readonly attempt: number; readonly of: string | null; readonly entry: Entry }
  | { readonly kind: 'save'; readonly name: string; readonly entry: Entry }
  | {
      readonly kind: 'client';
      readonly name: string;
      readonly id: string;
      readonly secret: string;
      readonly redirect: string;
    }
  | { readonly kind: 'callback'; readonly name: string; readonly url: string }
  | { readonly kind: 'start-daemon' };

export type Command =
  | Load
  | { readonly do: 'act'; readonly act: Act }
  | { readonly do: 'login'; readonly name: string }
  | { readonly do: 'leave-login' }
  | { readonly do: 'open'; readonly url: string }
  | { readonly do: 'bell' }
  | { readonly do: 'wake'; readonly afterMs: number }
  | { readonly do: 'quit' };

export type Message =
  | { readonly is: 'input'; readonly input: Input }
  | { readonly is: 'resize'; readonly size: Size }
  | { readonly is: 'tick' }
  | { readonly is: 'event'; readonly event: Event }
  /** The daemon no longer answers, or it does again. */
  | { readonly is: 'lost' }
  | { readonly is: 'back' }
  | { readonly is: 'loaded'; readonly asked: Load; readonly found: Loaded }
  | { readonly is: 'not-loaded'; readonly asked: Load; readonly text: string }
  | { readonly is: 'done'; readonly act: Act; readonly reconnected?: Reconnected; readonly tested?: TestResult }
  | { readonly is: 'failed'; readonly act: Act; readonly text: string }
  | { readonly is: 'login'; readonly name: string; readonly frame: LoginFrame }
  | { readonly is: 'opened'; readonly ok: boolean };

/** What follows from a message. */
export type Step = readonly [Model, readonly Command[]];
