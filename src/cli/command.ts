/** What a command is: a description as data, and a function that returns what to show instead of showing it. */
import type { Client } from '../api/client.ts';
import type { Paths } from '../config/paths.ts';
import type { ExitCode } from './failure.ts';
import type { Keys } from './keys.ts';
import type { Options } from './options.ts';
import type { Paint } from './paint.ts';
import type { Terminal } from './terminal.ts';

export interface OptionDescription {
  /** As commander reads it: `--env <K=V>`, `--follow`. */
  readonly flags: string;
  readonly about: string;
  readonly choices?: readonly string[];
  /** May be given more than once; the values become a list. */
  readonly repeats?: boolean;
}

export interface Description {
  /** The words after `watchkeeper`: `status`, `config check`. */
  readonly name: string;
  /** Heading in the list of commands. */
  readonly group: 'Daemon' | 'Servers' | 'Tools and calls' | 'Clients' | 'Log' | 'Files';
  readonly summary: string;
  /** What the command takes: `<server>`, `[server]`, `[words...]`, each with its meaning. */
  readonly arguments?: readonly { readonly name: string; readonly about: string }[];
  /** What follows `--` is a command line of its own. */
  readonly takesCommand?: boolean;
  readonly options?: readonly OptionDescription[];
  /** Whole command lines without `watchkeeper` in front. */
  readonly examples: readonly { readonly line: string; readonly about: string }[];
}

/** The words of the command line that are no options. */
export interface Words {
  readonly positional: readonly string[];
  /** What stood after `--`, for commands that take a command line. */
  readonly command: readonly string[];
}

/** How text for people is to look. */
export interface View {
  readonly paint: Paint;
  readonly width: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** What commands to type next begin with: `watchkeeper`, and where its files are when that was said. */
  readonly program?: string;
}

/** A whole answer. */
export interface Answer {
  readonly kind: 'answer';
  /** What `--json` prints: the HTTP shape where there is one. */
  readonly json: unknown;
  /** What people read on stdout; ends with a line break unless empty. */
  readonly text: (view: View) => string;
  /** The text only says that it is done: `--quiet` leaves it out. */
  readonly confirms?: boolean;
  /** Hints for stderr; `--quiet` and `--json` leave them out. */
  readonly notes?: readonly string[];
  /** For stderr, whatever was asked for: the reader must know it. */
  readonly warning?: string;
  readonly exit?: ExitCode;
}

/** One step of an answer that goes on. */
export interface Piece {
  /** One line for `--json`; left out when there is nothing to say. */
  readonly json?: unknown;
  readonly text?: (view: View) => string;
  /** Hints for stderr. */
  readonly notes?: readonly string[];
  /** For stderr, whatever was asked for. */
  readonly warning?: string;
  /** The text replaces what is on the screen (only where the terminal is live). */
  readonly redraw?: boolean;
}

/** An answer that goes on until it ends by itself or is interrupted; it returns the exit code. */
export interface Stream {
  readonly kind: 'stream';
  readonly pieces: AsyncGenerator<Piece, number>;
}

export type Output = Answer | Stream;

export interface Question {
  readonly text: string;
  /** Keys a person may type, with what they mean. */
  readonly choices: readonly { readonly key: string; readonly label: string }[];
  /** Taken for an empty line, or when nobody answers. */
  readonly otherwise: string;
}

export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly version: string;
  readonly files: Paths;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly terminal: Terminal;
  /** Milliseconds since the epoch. */
  now(): number;
  /** The daemon's client; nothing is sent before one of its methods is called. */
  readonly api: Client;
  /** null where nobody can answer. */
  readonly ask: ((question: Question) => Promise<string>) | null;
  /** Takes the keyboard, key by key; null where there is none. */
  readonly keys: (() => Keys) | null;
  /** Lines of stdin as they come, until it ends or the signal does. */
  lines(signal: AbortSignal): AsyncIterable<string>;
  /** From the first call on, Ctrl-C ends the signal instead of the process. */
  untilInterrupted(): AbortSignal;
  /** How this very program was started, for starting it again. */
  readonly self: { readonly execPath: string; readonly execArgv: readonly string[]; readonly script: string };
}

export type Run = (context: Context, words: Words, options: Options) => Promise<Output>;

export interface Command {
  readonly description: Description;
  readonly run: Run;
}
