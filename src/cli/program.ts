/** argv → which command to run with what. Every message comes back as data; nothing is printed here. */
import { Command as Commander, CommanderError, Option } from 'commander';
import type { Command, Description, Words } from './command.ts';
import type { Options } from './options.ts';
import { didYouMean, nearest } from './suggest.ts';

export interface Globals {
  readonly config: string | undefined;
  readonly data: string | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
}

export type Parsed =
  | {
      readonly kind: 'run';
      readonly command: Command;
      readonly words: Words;
      readonly options: Options;
      readonly globals: Globals;
    }
  /** Asked for, or shown because the command line stops halfway (`wanted: false`). */
  | { readonly kind: 'help'; readonly text: string; readonly wanted: boolean }
  | { readonly kind: 'wrong'; readonly message: string; readonly next: readonly string[]; readonly json: boolean };

const globalOptions = [
  new Option('--config <file>', 'the mcp.json to use (WATCHKEEPER_CONFIG)'),
  new Option('--data <folder>', 'the data directory to use (WATCHKEEPER_DATA)'),
  new Option('--json', 'print JSON, in the shapes of the HTTP API'),
  new Option('--quiet', 'print data only, no confirmations and no hints'),
];

const examplesOf = ({ examples }: Description): string =>
  `\nExamples:\n${examples.map(({ line, about }) => `  watchkeeper ${line}\n      ${about}`).join('\n')}\n`;

const asOption = ({ flags, about, choices, repeats }: NonNullable<Description['options']>[number]): Option => {
  const option = new Option(flags, about);
  if (choices) option.choices(choices);
  if (repeats) option.argParser((value: string, before: readonly string[] | undefined) => [...(before ?? []), value]);
  return option;
};

type Found = (command: Command, words: readonly string[], options: Options, globals: Record<string, unknown>) => void;

function define(parent: Commander, name: string, command: Command, found: Found): void {
  const { description } = command;
  const defined = parent.command(name).description(description.summary);
  for (const argument of description.arguments ?? []) defined.argument(argument.name, argument.about);
  if (description.takesCommand) {
    defined.argument('[command...]', 'after --: the command line that starts the server');
    const [first] = description.arguments ?? [];
    defined.usage(`[options] ${first?.name ?? ''} (-- <command> [args...] | --url <url>)`);
  }
  for (const option of description.options ?? []) defined.addOption(asOption(option));
  defined.helpGroup(`${description.group}:`);
  defined.addHelpText('after', examplesOf(description));
  defined.action((...given: unknown[]) => {
    const self = given.at(-1) as Commander;
    found(command, self.args, self.opts(), self.optsWithGlobals());
  });
}

/** A command in the list of commands: its name and what it takes, without its options. */
const termOf = (command: Commander): string => {
  if (command.commands.length > 0) return `${command.name()} ${command.commands.map((one) => one.name()).join('|')}`;
  const taken = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...taken].join(' ');
};

/** What the commands of two words have in common. */
const abouts: Readonly<Record<string, string>> = {
  config: 'look at and repair the configuration',
  fixture: 'a recorded server as a file, and the file as a server again',
};

/** The program with all its commands; `found` is told which one the command line names. */
function build(commands: readonly Command[], version: string, found: Found): Commander {
  const program = new Commander('watchkeeper')
    .description('Keeps MCP servers alive, serves their tools from one place and writes down what happens to them.')
    .version(`watchkeeper ${version}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .addHelpCommand(
      new Commander('help').argument('[command...]').description('print help for a command').helpGroup('Daemon:'),
    )
    .configureHelp({ subcommandTerm: termOf, showGlobalOptions: true });
  for (const option of globalOptions) program.addOption(option);
  for (const command of commands) {
    const [group, action] = command.description.name.split(' ');
    if (group === undefined) continue;
    if (action === undefined) {
      define(program, group, command, found);
      continue;
    }
    let parent = program.commands.find((known) => known.name() === group);
    if (!parent) {
      parent = program.command(group).helpGroup(`${command.description.group}:`);
      parent.description(abouts[group] ?? '');
    }
    define(parent, action, command, found);
  }
  return program;
}

const silence = (program: Commander, write: (text: string) => void, width: number | undefined): void => {
  const everyone = [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)];
  for (const one of everyone) {
    one.exitOverride();
    one.configureOutput({
      writeOut: write,
      writeErr: write,
      getOutHelpWidth: () => width ?? 100,
      getErrHelpWidth: () => width ?? 100,
      outputError: () => {},
    });
  }
};

function wrong(error: CommanderError, argv: readonly string[], commands: readonly Command[], json: boolean): Parsed {
  const names = commands.map(({ description }) => description.name);
  const unknown = /unknown command '(.*)'/.exec(error.message)?.[1];
  if (unknown !== undefined) {
    const group = argv.find((word) => names.some((name) => name.startsWith(`${word} `)));
    const known = [...new Set(names.map((name) => (group ? name : (name.split(' ')[0] ?? name))))];
    const meant = group ? `${group} ${unknown}` : unknown;
    const near = nearest(meant, known)[0];
    return {
      kind: 'wrong',
      message: `There is no command "${meant}".${didYouMean(meant, known)}`,
      next: [near ?? '--help'],
      json,
    };
  }
  const message = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
  const named = names
    .filter((name) => ` ${argv.join(' ')} `.includes(` ${name} `))
    .sort((a, b) => b.length - a.length)[0];
  return {
    kind: 'wrong',
    message: `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.?)]$/.test(message) ? '' : '.'}`,
    next: [named === undefined ? '--help' : `${named} --help`],
    json,
  };
}

/** `/mcp` is how agents call the terminal; the word means `tui` wherever a command is named. */
function spelled(argv: readonly string[]): readonly string[] {
  const at = argv.findIndex(
    (word, index) => !word.startsWith('-') && !/^--(?:config|data)$/.test(argv[index - 1] ?? ''),
  );
  return argv[at] === '/mcp' ? argv.with(at, 'tui') : argv;
}

/** Reads a command line (without node and script). `width`: columns for help, undefined in a pipe. */
export function parseCommandLine(
  given: readonly string[],
  commands: readonly Command[],
  { version, width }: { readonly version: string; readonly width: number | undefined },
): Parsed {
  const argv = spelled(given);
  let result: Parsed | undefined;
  let written = '';
  const split = argv.indexOf('--');
  const program = build(commands, version, (command, words, options, globals) => {
    const after = command.description.takesCommand && split >= 0 ? argv.slice(split + 1) : [];
    result = {
      kind: 'run',
      command,
      words: { positional: words.slice(0, words.length - after.length), command: after },
      options,
      globals: {
        config: globals.config as string | undefined,
        data: globals.data as string | undefined,
        json: globals.json === true,
        quiet: globals.quiet === true,
      },
    };
  });
  silence(
    program,
    (text) => {
      written += text;
    },
    width,
  );
  try {
    program.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: 'help', text: written, wanted: true };
    if (error.code === 'commander.help') return { kind: 'help', text: written, wanted: false };
    const before = split < 0 ? argv : argv.slice(0, split);
    return wrong(error, before, commands, before.includes('--json'));
  }
  return result ?? { kind: 'help', text: program.helpInformation(), wanted: false };
}
