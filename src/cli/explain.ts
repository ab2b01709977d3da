/** Turns whatever ended a command into an exit code, a text that ends with the next command to type, and JSON. */
import { ApiError, DaemonUnreachable } from '../api/errors.ts';
import { type Places, withPlaces } from './again.ts';
import { CommandError, type ExitCode, exitCode } from './failure.ts';
import { harmless, type Paint } from './paint.ts';

export interface Explained {
  readonly exit: ExitCode;
  readonly json: Readonly<Record<string, unknown>>;
  readonly text: (paint: Paint) => string;
}

interface Facts {
  readonly message: string;
  readonly next: readonly string[];
  readonly exit: ExitCode;
  readonly problem?: Readonly<Record<string, unknown>> | undefined;
}

const nowhere: Places = { config: undefined, data: undefined };

/** The commands that a sentence of advice holds, without `watchkeeper` in front. */
const commandsIn = (advice: string): string[] =>
  [...advice.matchAll(/`watchkeeper ([^`]+)`/g)].flatMap((found) => found[1] ?? []);

/** Problems whose advice speaks to programs that use the API: what it comes to on a command line. */
const inCommands: Readonly<Record<string, readonly string[]>> = {
  'invalid-request': ['--help'],
  'entry-invalid': ['add --help'],
  'prefix-invalid': ['allow --help'],
  'config-invalid': ['config check'],
  'config-unreadable': ['config check'],
};

const byStatus = (status: number): ExitCode => {
  if (status === 401 || status === 403) return exitCode.refused;
  return status === 400 || status === 415 ? exitCode.usedWrongly : exitCode.failed;
};

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

function factsOf(error: unknown): Facts {
  if (error instanceof CommandError) return error;
  if (error instanceof ApiError) {
    const advised = commandsIn(error.next ?? '');
    const own = inCommands[error.code];
    // What is said about requests that do not fit their route is of no use to somebody who types commands.
    const silent = own !== undefined || advised.length > 0 || error.next === undefined;
    return {
      message: silent
        ? own === undefined
          ? error.detail
          : sentence(error.detail)
        : `${sentence(error.detail)} ${error.next}`,
      next: own ?? (advised.length > 0 ? advised : ['status']),
      exit: byStatus(error.status),
      problem: error.problem,
    };
  }
  if (error instanceof DaemonUnreachable) {
    return { message: error.message, next: ['up --detach'], exit: exitCode.notReachable };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { message, next: [], exit: exitCode.failed };
}

/**
 * `error`: anything thrown, or the facts of a failure already known. `otherwise`: what to type when it does not say.
 * `places`: where configuration and data were said to be, which the next command needs as well.
 */
export function explain(error: unknown | Facts, otherwise = '--help', places: Places = nowhere): Explained {
  const known = typeof error === 'object' && error !== null && !(error instanceof Error) && 'exit' in error;
  const { message: said, next, exit, problem } = known ? (error as Facts) : factsOf(error);
  const message = withPlaces(said, places);
  const commands = (next.length > 0 ? next : [otherwise]).map((line) => withPlaces(`watchkeeper ${line}`, places));
  return {
    exit,
    json: { error: message, exit, next: commands, ...(problem ? { problem } : {}) },
    text: (paint) => {
      const lines = commands.map((line) => `  ${paint('bold', line)}\n`).join('');
      return `${paint('red', 'watchkeeper:')} ${harmless(message)}\n${lines}`;
    },
  };
}
