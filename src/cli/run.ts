/** One run of the command line: read argv, run the command, hand what it returns to the printer. */

import { connectTo } from '../api/client.ts';
import { resolvePaths } from '../config/paths.ts';
import { packageVersion } from '../root.ts';
import { visibleJson } from '../visible.ts';
import { placesIn, programFor, withPlaces } from './again.ts';
import type { Answer, Context, Piece, Question, Stream, View } from './command.ts';
import { commands } from './commands.ts';
import { explain } from './explain.ts';
import { exitCode } from './failure.ts';
import type { Keys } from './keys.ts';
import { painter } from './paint.ts';
import { type Globals, parseCommandLine } from './program.ts';
import { type Terminal, terminalOf } from './terminal.ts';

/** What the process gives to a run; only `out` and `err` print. */
export interface Surroundings {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly streams: Parameters<typeof terminalOf>[1];
  readonly self: Context['self'];
  now(): number;
  out(text: string): void;
  err(text: string): void;
  ask(question: Question): Promise<string>;
  keys(): Keys;
  lines(signal: AbortSignal): AsyncIterable<string>;
  untilInterrupted(): AbortSignal;
}

const clearScreen = '\u001b[H\u001b[2J\u001b[3J';

interface Printer {
  answer(answer: Answer): number;
  stream(stream: Stream): Promise<number>;
}

function printer(around: Surroundings, terminal: Terminal, globals: Globals): Printer {
  const { json, quiet } = globals;
  const program = programFor(globals);
  // On a terminal JSON is read by a person, and must not steer it either.
  const written =
    terminal.width === undefined
      ? (value: unknown, indent?: number) => JSON.stringify(value, null, indent)
      : visibleJson;
  const view = (): View => ({ paint: painter(terminal.color), width: terminal.width, now: around.now(), program });
  const notes = (lines: readonly string[] = []): void => {
    if (!json && !quiet) for (const line of lines) around.err(`${withPlaces(line, globals)}\n`);
  };
  return {
    answer({ json: shape, text, confirms, notes: hints, warning, exit = exitCode.done }) {
      if (json) around.out(`${written(shape, terminal.live ? 2 : undefined)}\n`);
      else if (!(quiet && confirms)) around.out(text(view()));
      notes(hints);
      if (warning !== undefined) around.err(withPlaces(warning, globals));
      return exit;
    },
    async stream({ pieces }) {
      const print = (piece: Piece): void => {
        if (json) {
          if (piece.json !== undefined) around.out(`${written(piece.json)}\n`);
        } else if (piece.text) around.out(`${piece.redraw && terminal.live ? clearScreen : ''}${piece.text(view())}`);
        if (piece.warning !== undefined) around.err(withPlaces(piece.warning, globals));
        notes(piece.notes);
      };
      for (;;) {
        const { done, value } = await pieces.next();
        if (done) return value;
        print(value);
      }
    },
  };
}

/** Runs a command line to its end and returns the exit code. Never throws for what a person can get wrong. */
export async function runCommandLine(around: Surroundings): Promise<number> {
  const terminal = terminalOf(around.env, around.streams);
  const version = packageVersion();
  const parsed = parseCommandLine(around.argv, commands, { version, width: terminal.width });
  if (parsed.kind === 'help') {
    if (parsed.wanted) around.out(parsed.text);
    else around.err(parsed.text);
    return parsed.wanted ? exitCode.done : exitCode.usedWrongly;
  }
  const fail = (failure: ReturnType<typeof explain>, json: boolean): number => {
    around.err(json ? `${visibleJson(failure.json)}\n` : failure.text(painter(terminal.errorColor)));
    return failure.exit;
  };
  if (parsed.kind === 'wrong') {
    const { message, next, json } = parsed;
    return fail(explain({ message, next, exit: exitCode.usedWrongly }, undefined, placesIn(around.argv)), json);
  }
  const { command, words, options, globals } = parsed;
  try {
    const files = resolvePaths({ config: globals.config, data: globals.data }, around.env);
    const output = await command.run(
      {
        env: around.env,
        cwd: around.cwd,
        version,
        files,
        json: globals.json,
        quiet: globals.quiet,
        terminal,
        now: around.now,
        api: connectTo({ dataDir: files.dataDir }),
        ask: terminal.asks ? around.ask : null,
        keys: terminal.asks ? around.keys : null,
        lines: around.lines,
        untilInterrupted: around.untilInterrupted,
        self: around.self,
      },
      words,
      options,
    );
    const print = printer(around, terminal, globals);
    return output.kind === 'answer' ? print.answer(output) : await print.stream(output);
  } catch (error) {
    return fail(explain(error, `${command.description.name} --help`, globals), globals.json);
  }
}
