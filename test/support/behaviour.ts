/** How a fake server of test/fixtures is told to behave. Every key is optional; without any the server is well-behaved. */

export type FakeEra = 'legacy' | 'modern' | 'both';

/** `text`, lines, so many log lines, or so many bytes (`newlineEvery: 0` = no newline at all; 100 by default). */
export type Noise = string | readonly string[] | { lines: number } | { bytes: number; newlineEvery?: number };

export interface Exit {
  /** 1 by default. */
  code?: number;
  signal?: NodeJS.Signals;
  /** Written to stderr before. */
  stderr?: Noise;
}

/** For how many uses a rule holds. A rule counts for itself, by its text: written anew with another `id` it starts from zero. */
interface Uses {
  id?: string | number;
  /** Skips so many uses first. */
  after?: number;
  /** Ends after so many uses. */
  times?: number;
}

/** In place of the ordinary answer to one JSON-RPC method. */
export interface AnswerRule extends Uses {
  delayMs?: number;
  /** Silence. */
  never?: boolean;
  error?: { code: number; message: string; data?: unknown };
  /** Merged into the ordinary result. */
  result?: Record<string, unknown>;
  /** Instead of the ordinary result. */
  replace?: Record<string, unknown>;
  exit?: Exit;
  /** Written before the answer (stdio). */
  stdout?: Noise;
  stderr?: Noise;
  /** Put in front of the answer's line (stdio). */
  glue?: string;
  /** Written in place of the answer's line (stdio). */
  raw?: string;
  /** HTTP: an event stream that breaks, or ends in good order, in place of the answer. */
  stream?: 'cut' | 'end';
}

/** In place of the ordinary answer to one HTTP request. `reset` breaks the connection, `hang` never answers. */
export interface StatusRule extends Uses {
  delayMs?: number;
  reset?: boolean;
  hang?: boolean;
  status?: number;
  /** An object is sent as JSON, a text as it is. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** The stream a client opens with GET. */
export type PushMode =
  | { mode: 'stream'; retryMs?: number }
  | { mode: 'cut'; afterMs?: number; retryMs?: number }
  | { mode: 'close' | 'reset' | 'hang' }
  | { mode: 'json'; body?: unknown }
  | { mode: 'status'; status: number; body?: unknown; headers?: Record<string, string> };

export type ListMode =
  | 'single'
  | 'pages'
  | 'same-cursor'
  | 'cycle'
  | 'empty-cursor'
  | 'null-cursor'
  | 'page-error'
  | 'page-never'
  | 'many-pages'
  | 'duplicates';

/** Carried out once, when a running server first sees its `id`. Those present at its start count as done. */
export type Order = { id: string | number } & (
  | { do: 'announce'; times?: number; overMs?: number }
  | { do: 'tell'; method: string; params?: Record<string, unknown> }
  | ({ do: 'exit' } & Exit)
  | { do: 'write'; stdout?: Noise; stderr?: Noise }
  | { do: 'end-subscriptions' }
  | { do: 'forget'; streams?: boolean }
  | { do: 'end-streams' | 'cut-streams' }
);

export interface Behaviour {
  info?: { name: string; version: string; title?: string };
  instructions?: string;
  /** The whole capabilities object, instead of tools with listChanged. */
  capabilities?: Record<string, unknown>;
  /** false: list_changed is sent without having been declared. */
  declareListChanged?: boolean;
  /** Answered whatever was asked for (legacy). */
  protocolVersion?: string;
  /** Answered to server/discover (modern). */
  supportedVersions?: string[];

  /** Before the first message is read (stdio). `exit.spawns`: only the first so many starts exit; needs `--count`. */
  start?: { delayMs?: number; stdout?: Noise; stderr?: Noise; exit?: Exit & { spawns?: number } };
  /** Ignores SIGTERM, the end of stdin, or both (true). */
  stubborn?: boolean | 'sigterm' | 'eof';
  /** Exits so many ms (50) after answering a method (`tools/list`). */
  leave?: Exit & { after?: string; ms?: number };

  /** Names of built-in tools, presets `@all`, `@many:N`, `@bad-schemas`, `@odd-names`, or whole definitions. */
  tools?: readonly (string | Record<string, unknown>)[];
  /** What a remote `$ref` of `@bad-schemas` points at. */
  remoteRef?: string;
  /** Offered, and declared as capabilities, when given. Resources can be subscribed to. */
  prompts?: readonly Record<string, unknown>[];
  resources?: readonly Record<string, unknown>[];
  resourceTemplates?: readonly Record<string, unknown>[];
  /** The values completions choose from. */
  completions?: readonly string[];
  logging?: true;
  /** Of every list. */
  list?: { mode?: ListMode; pages?: number; extra?: Record<string, unknown> };
  /** By JSON-RPC method, or `*`. */
  answers?: Record<string, AnswerRule | readonly AnswerRule[]>;
  orders?: readonly Order[];

  /** HTTP only, from here on. false: no session ids. */
  sessions?: boolean;
  transport?: 'streamable' | 'sse' | 'both';
  /** How a POST is answered; `auto`: JSON unless something comes before the answer. */
  reply?: 'auto' | 'json' | 'sse';
  /** The only bearer token that is let in; all else gets 401 with a challenge. */
  bearer?: string;
  unknownSession?: StatusRule;
  missingSession?: StatusRule;
  get?: PushMode;
  /** By JSON-RPC method, `POST`, `GET`, `DELETE`, or `*`. */
  status?: Record<string, StatusRule | readonly StatusRule[]>;
}
