/** A server entry out of the words of `add` and `test`. Pure. */
import { speaksOfSecret } from '../config/secrets.ts';
import type { Description, Words } from './command.ts';
import { usedWrongly } from './failure.ts';
import { type Options, pairs, text } from './options.ts';

export const entryOptions: NonNullable<Description['options']> = [
  { flags: '--env <K=V>', about: `variable for the command; '\${NAME}' is filled in at each start`, repeats: true },
  { flags: '--header <K=V>', about: 'HTTP header to send to the URL', repeats: true },
  { flags: '--cwd <folder>', about: 'folder the command runs in' },
  { flags: '--url <url>', about: 'address of a server that speaks streamable HTTP' },
];

/** A hint for each value of `--env` and `--header` that speaks of a secret and holds no placeholder. */
export function secretHints(options: Options): string[] {
  return (['env', 'header'] as const).flatMap((option) =>
    Object.entries(pairs(options, option))
      .filter(([name, value]) => speaksOfSecret(name) && !value.includes('$'))
      .map(([name]) => {
        const variable = name.toUpperCase().replace(/[^A-Z0-9]/g, '_');
        return `${name} stands in the file as you typed it; to keep it out: --${option} '${name}=\${${variable}}'`;
      }),
  );
}

/** A hint when the command or an argument is a path from here: the daemon starts it from its own folder. */
export function relativeHints({ command }: Words, options: Options): string[] {
  if (text(options, 'cwd') !== undefined) return [];
  const found = command.filter(
    (word, index) => /^\.{1,2}(?:[\\/]|$)/.test(word) || (index === 0 && /^[\w.-]+\//.test(word)),
  );
  if (found.length === 0) return [];
  const [one = ''] = found;
  return [
    `${one} is kept as typed and found from the folder the daemon runs in; to be sure, give the whole path or --cwd "$PWD"`,
  ];
}

/** The entry as it stands in `mcp.json`; `command` names the command for messages. */
export function entryOf(
  { positional, command }: Words,
  options: Options,
  name: 'add' | 'test',
): Record<string, unknown> {
  const help = `${name} --help`;
  const url = text(options, 'url');
  const cwd = text(options, 'cwd');
  const env = pairs(options, 'env');
  const headers = pairs(options, 'header');
  const [program, ...args] = command;
  const [server = '<name>', ...extra] = positional;
  if (extra.length > 0) {
    throw usedWrongly('The command line of the server goes after --.', `${name} ${server} -- ${extra[0]} …`);
  }
  if (url !== undefined && program !== undefined)
    throw usedWrongly('Give --url or a command after --, not both.', help);
  if (url !== undefined) {
    if (Object.keys(env).length > 0 || cwd !== undefined) {
      throw usedWrongly('--env and --cwd are for a command; a URL takes --header.', help);
    }
    return { url, ...(Object.keys(headers).length > 0 ? { headers } : {}) };
  }
  if (program === undefined) {
    throw usedWrongly(
      'Neither a command after -- nor --url is given.',
      `${name} ${server} -- <command> [args…]`,
      `${name} ${server} --url <url>`,
    );
  }
  if (Object.keys(headers).length > 0) throw usedWrongly('--header is for --url; a command takes --env.', help);
  return {
    command: program,
    ...(args.length > 0 ? { args } : {}),
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...(cwd === undefined ? {} : { cwd }),
  };
}
