/** What is known of an AI client: everything the rest of this folder does differs by these data and by nothing else. */

export type System = 'darwin' | 'linux' | 'win32';

/**
 * Paths with `{home}`, `{config}` (XDG or `~/.config`), `{appdata}`, `{localappdata}` in them; `{value}` is a variable's.
 * `/` separates on every system.
 */
export interface Place {
  readonly file: string;
  /** Wins over `file` where it exists. */
  readonly before?: readonly string[];
  /** Used where it exists and `file` does not. */
  readonly after?: readonly string[];
}

export type ConfigFormatName = 'json' | 'jsonc' | 'toml' | 'yaml';

/**
 * An entry with placeholders in its texts: `{url}`, `{token}` (the token or a reference to it), `{variable}` (name of the
 * variable that holds it), `{entry}`, `{command}`; a text that is just `{args}` or `{commandLine}` becomes the list.
 */
export interface Shape {
  readonly [key: string]: unknown;
}

/** What becomes of a tool whose identifier is too long. `unknown`: not known, so nothing is said. */
export type OverflowEffect = 'drop' | 'reject' | 'rewrite' | 'none' | 'unknown';

/** How the model sees a tool: `before` + entry + `between` + tool. Lengths are in characters. */
export interface IdentifierRule {
  readonly before: string;
  readonly between: string;
  /** `none`: the entry's name is not part of it. */
  readonly server: 'entry' | 'none';
  /** So much of the entry's name is kept; null: all. */
  readonly serverMax: number | null;
  /** `names`: only entry and tool count against the limit, not what is put around them. */
  readonly counts: 'whole' | 'names';
  /** Longest that passes; null: none is known. */
  readonly limit: number | null;
  /** The characters that pass, as a class of a regular expression; null: not known. */
  readonly allowed: string | null;
  /** Other characters are replaced by the client and do no harm. */
  readonly cleans: boolean;
  readonly effect: OverflowEffect;
}

/** `${NAME}`, `$NAME`, `${env:NAME}`, `{env:NAME}`. */
export type FillsIn = 'braces' | 'dollar' | 'colon' | 'curly';

/** Where a fact about a client was found, and when that was written (`YYYY-MM`; `undated` where it does not say, a commit then tells what was read). */
export interface Source {
  readonly about: string;
  readonly found: string;
  readonly date: string;
}

export interface ClientDescriptor {
  readonly id: string;
  readonly name: string;
  readonly places: Readonly<Record<System, Place>>;
  /** Variables of the client's own that move its file; the first one that is set counts. */
  readonly movedBy: readonly { readonly variable: string; readonly file: string }[];
  readonly format: ConfigFormatName;
  /** Key of the file under which the entries stand. */
  readonly key: string;
  /** null: the client only starts commands. `byReference` is for a token kept in a variable. */
  readonly http: { readonly byReference: Shape | null; readonly literal: Shape } | null;
  readonly stdio: Shape;
  /** How a value of the file names a variable, `{variable}` in it; null: the client fills in none. */
  readonly reference: string | null;
  /** Every way in which it fills variables into values, for reading its entries. */
  readonly fillsIn: readonly FillsIn[];
  /** Keys of an entry that must not outlive a change of its kind, besides those of the shapes. */
  readonly alsoOurs?: readonly string[];
  /** A pattern no value of ours may match, since the client would run or replace it. */
  readonly forbids?: string;
  readonly identifier: IdentifierRule;
  /** Most tools the client takes in all; null: not known. */
  readonly toolsCap: number | null;
  /**
   * Tools of all entries share one name space in the program `where`, known by its `command`. Who has one of the
   * `otherwise` commands and not that one uses a program of the same file that keeps them apart.
   */
  readonly flat: {
    readonly where: string;
    readonly command: string;
    readonly otherwise: readonly string[];
  } | null;
  /** Asks the person before a tool runs, by itself. */
  readonly confirms: boolean;
  /** How an installation is noticed: commands on the path, folders. */
  readonly signs: { readonly commands: readonly string[]; readonly folders: readonly string[] };
  /** What must be done for the file to count: shown after a change. */
  readonly afterwards: string;
  readonly sources: readonly Source[];
}
