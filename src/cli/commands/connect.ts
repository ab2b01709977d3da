import type { Command, Context } from '../command.ts';
import { usedWrongly } from '../failure.ts';
import { flag, type Options, text } from '../options.ts';
import { shellWord } from '../shell.word.ts';

type Permission = 'ask' | 'allow-all' | 'deny';

/** What a person wants, or, for a client that asks by itself, what they answer. */
async function permissionOf(
  { ask }: Context,
  options: Options,
  client: { readonly name: string; readonly confirms: boolean },
  known: Permission | undefined,
): Promise<Permission> {
  const given = text(options, 'permission') as Permission | undefined;
  if (given !== undefined) return given;
  if (known !== undefined) return known;
  if (!client.confirms || ask === null || flag(options, 'dryRun')) return 'ask';
  const said = await ask({
    text: `${client.name} asks you itself before a tool runs. Should Watchkeeper`,
    choices: [
      { key: 'a', label: 'ask as well' },
      { key: 'l', label: 'let its calls run' },
    ],
    otherwise: 'a',
  });
  return said === 'l' ? 'allow-all' : 'ask';
}

/** The command that writes what a trial run showed. */
const againWith = (id: string, options: Options): string =>
  [
    'connect',
    id,
    ...['mode', 'name', 'permission', 'token'].flatMap((option) => {
      const value = text(options, option);
      return value === undefined ? [] : [`--${option}`, shellWord(value)];
    }),
    ...(flag(options, 'newToken') ? ['--new-token'] : []),
    ...(flag(options, 'replace') ? ['--replace'] : []),
  ].join(' ');

export const connect: Command = {
  description: {
    name: 'connect',
    group: 'Clients',
    summary: 'write the servers into the configuration of an AI client',
    arguments: [{ name: '<client>', about: 'claude-code, cursor, codex…; watchkeeper clients lists them' }],
    options: [
      {
        flags: '--mode <mode>',
        about: 'an entry per server, one for all (needs mount_mode "routed"), or commands instead of addresses',
        choices: ['per-server', 'routed', 'stdio'],
      },
      {
        flags: '--name <name>',
        about: 'what the entries are called after: <name>-<server>, or <name> when there is one',
      },
      {
        flags: '--permission <mode>',
        about: 'permission mode of its calls, and the most they may ask for',
        choices: ['ask', 'allow-all', 'deny'],
      },
      { flags: '--token <place>', about: 'where its token stands', choices: ['variable', 'file'] },
      { flags: '--new-token', about: 'make a new token; the old one ends' },
      { flags: '--replace', about: 'entries of the same names make way until disconnect' },
      { flags: '--dry-run', about: 'only show what would change' },
    ],
    examples: [
      { line: 'connect claude-code --dry-run', about: 'shows the change to ~/.claude.json' },
      { line: 'connect antigravity --name wk', about: 'entries wk-<server>, so that identifiers stay short' },
      { line: 'connect claude-desktop --permission allow-all', about: 'a client that confirms calls itself' },
    ],
  },
  async run(context, { positional: [word = ''] }, options) {
    const { connected } = await import('../client.connect.ts');
    const { mustBeClient } = await import('../client.words.ts');
    const { isEntryName } = await import('../../clients/plan.ts');
    const client = mustBeClient(word, 'connect');
    const name = text(options, 'name');
    if (name !== undefined && !isEntryName(name))
      throw usedWrongly(
        `--name ${JSON.stringify(name)}: give at most 64 letters, digits, spaces, ".", "-" and "_", with a letter or digit in front.`,
        `connect ${client.id} --name hub`,
      );
    if (client.http === null && ['per-server', 'routed'].includes(text(options, 'mode') ?? ''))
      throw usedWrongly(`${client.name} only starts commands.`, `connect ${client.id} --mode stdio`);
    if (client.http?.byReference == null && text(options, 'token') === 'variable')
      throw usedWrongly(
        client.http === null
          ? `${client.name} only starts commands, which need no token.`
          : `${client.name} fills in no variables; its token has to stand in the file.`,
        `connect ${client.id}`,
      );
    return connected(context, client, {
      mode: text(options, 'mode') as 'per-server' | 'routed' | 'stdio' | undefined,
      name,
      permission: (known) => permissionOf(context, options, client, known),
      token: text(options, 'token') as 'variable' | 'file' | undefined,
      renew: flag(options, 'newToken'),
      replace: flag(options, 'replace'),
      dryRun: flag(options, 'dryRun'),
      again: againWith(client.id, options),
    });
  },
};
