import type { Allowlist, Client } from '../../api/client.ts';
import { mustKnow } from '../ask.daemon.ts';
import type { Command } from '../command.ts';
import { CommandError, usedWrongly } from '../failure.ts';
import { flag, list, type Options } from '../options.ts';
import { didYouMean, nearest } from '../suggest.ts';

const prefixOf = (server: string): string => `mcp__${server}__`;

/** Registered names of tools given by registered or own name. */
async function entriesFor(api: Client, server: string, words: readonly string[]): Promise<string[]> {
  const { tools } = await api.tools({ server });
  return words.map((word) => {
    const known = tools.find(({ name, tool }) => name === word || tool === word);
    if (known) return known.name;
    // Of a server that never connected no tool is known; a full name may be granted ahead.
    if (word.startsWith(prefixOf(server)) && tools.length === 0) return word;
    const own = tools.map(({ tool }) => tool);
    const near = nearest(word, own)[0];
    throw new CommandError(`${server} has no tool "${word}".${didYouMean(word, own)}`, {
      next: [near === undefined ? `tools ${server}` : `allow ${server} --tool ${near}`],
    });
  });
}

/** The new entries of the server's prefix; undefined when nothing is to change. */
async function wanted(api: Client, server: string, options: Options): Promise<readonly string[] | undefined> {
  const tools = list(options, 'tool');
  const ways = [tools.length > 0, flag(options, 'all'), flag(options, 'none')].filter(Boolean).length;
  if (ways > 1) throw usedWrongly('Give one of --tool, --all and --none.', 'allow --help');
  if (flag(options, 'none')) return [];
  if (flag(options, 'all')) return [`${prefixOf(server)}*`];
  return tools.length > 0 ? entriesFor(api, server, tools) : undefined;
}

const grantText = ({ tool: { entries, suspended } }: Allowlist): string => {
  const lines = entries.map(
    (entry) => `${entry}${suspended.includes(entry) ? '  suspended: what it was given for has changed' : ''}\n`,
  );
  return lines.length > 0 ? lines.join('') : 'Nothing is allowed to run without asking.\n';
};

export const allow: Command = {
  description: {
    name: 'allow',
    group: 'Tools and calls',
    summary: 'show or change which tools run without asking',
    arguments: [{ name: '[server]', about: 'only grants of this server' }],
    options: [
      {
        flags: '--tool <tool>',
        about: 'allow this tool of the server and no other; repeat it for more',
        repeats: true,
      },
      { flags: '--all', about: 'allow every tool of the server, also those that come later' },
      { flags: '--none', about: 'take all grants of the server away' },
    ],
    examples: [
      { line: 'allow', about: 'all grants' },
      { line: 'allow memory --tool read_graph --tool search_nodes', about: 'these two and no others' },
      { line: 'allow memory --none', about: 'every call of the server asks again' },
    ],
  },
  async run({ api }, { positional: [server] }, options) {
    if (server === undefined) {
      if (options.tool !== undefined || options.all !== undefined || options.none !== undefined) {
        throw usedWrongly('Name the server whose grants are to change.', 'allow <server> --help');
      }
      const all = await api.allowlist();
      return { kind: 'answer', json: all, text: () => grantText(all) };
    }
    await mustKnow(api, server, 'allow');
    const entries = await wanted(api, server, options);
    if (!entries) {
      const present = await api.allowlist(prefixOf(server));
      return { kind: 'answer', json: present, text: () => grantText(present) };
    }
    const replaced = await api.replaceGrants(prefixOf(server), entries);
    return {
      kind: 'answer',
      json: replaced,
      text: () => grantText({ tool: { entries: replaced.tool.entries, suspended: [] } }),
      confirms: true,
    };
  },
};
