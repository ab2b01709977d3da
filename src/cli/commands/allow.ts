import type { Allowlist, Client, Suspensions } from '../../api/client.ts';
import type { lineText } from '../../replay/tool.diff.ts';
import { visibleText } from '../../visible.ts';
import { mustKnow } from '../ask.daemon.ts';
import type { Answer, Command, View } from '../command.ts';
import { localTime } from '../duration.ts';
import { CommandError, usedWrongly } from '../failure.ts';
import { flag, list, type Options } from '../options.ts';
import { oneLine } from '../paint.ts';
import { didYouMean, nearest } from '../suggest.ts';

type LineText = typeof lineText;

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

type Suspension = Suspensions['suspended'][number];

/** What a suspended grant was given for, and what is there now; nothing where nobody asked for that. */
function suspensionText({ changed, before, after, words, at }: Suspension, text: LineText, view: View): string {
  const what = changed === 'tool' ? 'definition' : 'server';
  const [old, now] = changed === 'tool' ? [before.definition, after.definition] : [before.identity, after.identity];
  const short = (hash: string | null): string => (hash ?? '').slice(0, 12);
  return [
    `    ${localTime(at)}  ${what} ${short(old)} → ${short(now)}\n`,
    ...words.map(
      (line) =>
        `      ${text({ ...line, path: oneLine(line.path) }, ({ kind, text: piece }) => marked(kind, visibleText(piece), view))}\n`,
    ),
  ].join('');
}

const marked = (kind: string, text: string, { paint }: View): string => {
  if (kind === 'same') return text;
  return kind === 'added' ? paint('green', `{+${text}+}`) : paint('red', `[-${text}-]`);
};

interface Shown {
  readonly suspensions: readonly Suspension[];
  readonly text: LineText;
}

const grantText = ({ tool: { entries, suspended } }: Allowlist, view: View, shown?: Shown): string => {
  const lines = [
    ...entries.map((entry) => [entry, false] as const),
    ...suspended.map((entry) => [entry, true] as const),
  ]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([entry, isSuspended]) => {
      if (!isSuspended) return `${entry}\n`;
      const why = shown?.suspensions.find((one) => one.entry === entry);
      const head = `${entry}  ${view.paint('red', 'suspended: what it was given for has changed')}\n`;
      return why && shown ? head + suspensionText(why, shown.text, view) : head;
    });
  return lines.length > 0 ? lines.join('') : 'Nothing is allowed to run without asking.\n';
};

/** Shows grants; with what changed where some are suspended. */
async function shownGrants(api: Client, found: Allowlist): Promise<Answer> {
  const some = found.tool.suspended.length > 0;
  const shown = some
    ? { suspensions: (await api.suspensions()).suspended, text: (await import('../../replay/tool.diff.ts')).lineText }
    : undefined;
  return {
    kind: 'answer',
    json: found,
    text: (view) => grantText(found, view, shown),
    notes: some
      ? ['A suspended grant counts again when you give it again: watchkeeper allow <server> --tool <tool>']
      : [],
  };
}

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
      return shownGrants(api, all);
    }
    await mustKnow(api, server, 'allow');
    const entries = await wanted(api, server, options);
    if (!entries) {
      const present = await api.allowlist(prefixOf(server));
      return shownGrants(api, present);
    }
    const replaced = await api.replaceGrants(prefixOf(server), entries);
    return {
      kind: 'answer',
      json: replaced,
      text: (view) => grantText({ tool: { entries: replaced.tool.entries, suspended: [] } }, view),
      confirms: true,
    };
  },
};
