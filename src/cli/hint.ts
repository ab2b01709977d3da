/** Commands that are named in what people read, so that they work where they are read. Pure. */

/** Puts the options that say which daemon is meant into every command a text names. */
export type Hint = (text: string) => string;

/** A word as a shell takes it for one. */
const word = (text: string): string => (/^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/**
 * `config` and `data` as they were typed, undefined when they were not: a variable of the environment is still there for
 * the next command, an option is not. `names`: the first words of all commands. A command that names the option itself
 * keeps its own.
 */
export function hinting(
  { config, data }: { readonly config: string | undefined; readonly data: string | undefined },
  names: Iterable<string>,
): Hint {
  const given = Object.entries({ config, data }).filter((one): one is [string, string] => one[1] !== undefined);
  if (given.length === 0) return (text) => text;
  const command = new RegExp(`(?<![\\w./-])watchkeeper (?=(?:${[...new Set(names)].join('|')})(?![\\w-]))`, 'g');
  return (text) =>
    text.replace(command, (start, offset: number) => {
      const [rest = ''] = text.slice(offset).split(/[\n`"]|&&/, 1);
      const missing = given.filter(([name]) => !rest.includes(`--${name} `));
      return `${start}${missing.map(([name, value]) => `--${name} ${word(value)} `).join('')}`;
    });
}
