/** Commands to type next, for whoever said where configuration and data are: the next one needs to be told, too. Pure. */
import { commands } from './commands.ts';
import type { Globals } from './program.ts';
import { shellWord } from './shell.word.ts';

export type Places = Pick<Globals, 'config' | 'data'>;

/** `watchkeeper`, with `--data` and `--config` as they were given. Before the command, since some take whole command lines. */
export function programFor({ config, data }: Places): string {
  return [
    'watchkeeper',
    ...(data ? ['--data', shellWord(data)] : []),
    ...(config ? ['--config', shellWord(config)] : []),
  ].join(' ');
}

/**
 * The command lines in a text, made into ones for the same places. What only looks like one stays, and a command that
 * says where something is to be keeps that.
 */
export function withPlaces(text: string, places: Places): string {
  if (programFor(places) === 'watchkeeper') return text;
  return text.replace(/\bwatchkeeper (?=([a-z]+)\b([^\n`"]*))/g, (whole, word: string, rest: string) => {
    if (!names().has(word)) return whole;
    const [own = ''] = rest.split(/ -- | && /, 1);
    const says = (option: string): boolean => own.includes(` ${option} `);
    return `${programFor({
      data: says('--data') ? undefined : places.data,
      config: says('--config') ? undefined : places.config,
    })} `;
  });
}

let known: ReadonlySet<string> | undefined;

/** The first words of all commands, but for those to which places mean nothing. */
function names(): ReadonlySet<string> {
  known ??= new Set(
    commands.map(({ description }) => description.name.split(' ')[0] ?? '').filter((name) => name !== 'version'),
  );
  return known;
}

/** The places in a command line that could not be read as a whole. */
export function placesIn(argv: readonly string[]): Places {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const given = (option: string): string | undefined => {
    const joined = words.find((word) => word.startsWith(`${option}=`));
    if (joined !== undefined) return joined.slice(option.length + 1);
    const at = words.indexOf(option);
    const value = at < 0 ? undefined : words[at + 1];
    return value?.startsWith('-') ? undefined : value;
  };
  return { config: given('--config'), data: given('--data') };
}
