/** What a server entry of `mcp.json` becomes once it has been read; placeholders stay as written. */
import type { Limits, Transport } from '../events/shapes.ts';

export interface OauthSettings {
  readonly clientId?: string;
  readonly scopes?: readonly string[];
  readonly clientMetadataUrl?: string;
}

interface EntryBase {
  readonly name: string;
  readonly disabled: boolean;
  readonly lazy: boolean;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** `tool_prefix`; undefined when the key is not set. */
  readonly toolPrefix: string | undefined;
  readonly limits: Limits;
  /** What may be sent again when a connection ends: nothing, what surely never left, or also what may be repeated. */
  readonly repeatCalls: 'never' | 'unsent' | 'idempotent';
}

export interface StdioEntry extends EntryBase {
  readonly transport: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  /** true: all of the daemon's environment; a list: these names in addition to the safe set. */
  readonly inheritEnv: boolean | readonly string[];
}

export interface HttpEntry extends EntryBase {
  readonly transport: 'streamable-http' | 'sse';
  /** `type` was written: no fallback to another transport. */
  readonly explicitType: boolean;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth: 'oauth' | undefined;
  readonly oauthClientName: string | undefined;
  readonly oauth: OauthSettings;
  readonly rawAuthorization: boolean;
}

export type ServerEntry = StdioEntry | HttpEntry;

/** The daemon itself as a server. It stands in no file and has nothing to fill in. */
export interface BuiltinEntry extends EntryBase {
  readonly transport: 'builtin';
}

/** An error of one entry; every other entry runs. */
export interface EntryProblem {
  /** The key that is wrong, `url`, `env.TOKEN`, `args[1]`, or `name`. */
  readonly field: string;
  /** Fit for a person; names what to do; never holds a value of the entry. */
  readonly message: string;
}

export interface LoadedEntry<Entry extends EntryBase = ServerEntry> {
  readonly name: string;
  /** Hash of the entry as written (order of keys does not count). */
  readonly revision: string;
  /** Hash of command and args, or of the URL, as written. */
  readonly identity: string;
  readonly transport: Transport | null;
  readonly entry: Entry | null;
  readonly problem: EntryProblem | null;
  readonly warnings: readonly string[];
}

/** What a server is run by: an entry of the file, or of the daemon's own. */
export type RunEntry = LoadedEntry<ServerEntry | BuiltinEntry>;

export interface LoadedConfig {
  /** Sorted by name. */
  readonly entries: readonly LoadedEntry[];
  /** Of the file as a whole. */
  readonly warnings: readonly string[];
}

/** A file that cannot be parsed. Line and column count from 1. */
export interface FileProblem {
  readonly message: string;
  readonly line: number | null;
  readonly column: number | null;
}

/** An entry whose placeholders are replaced: what a connection is opened with. Never stored, logged or answered. */
export type ResolvedEntry =
  | {
      readonly transport: 'stdio';
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
      /** The child's whole environment. */
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string | undefined;
      /** Values that came from variables or literal secrets: to be masked wherever text of the server is shown. */
      readonly secrets: readonly string[];
    }
  | {
      readonly transport: 'streamable-http' | 'sse';
      readonly name: string;
      readonly explicitType: boolean;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly secrets: readonly string[];
    };
