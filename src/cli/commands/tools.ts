import type { Tools } from '../../api/client.ts';
import { aboutServer, mustKnow, unlessNoDaemon } from '../ask.daemon.ts';
import type { Answer, Command, Context, View } from '../command.ts';
import { usedWrongly } from '../failure.ts';
import { offlineNotes, offlineToolsAt, offlineToolsHistory } from '../offline.past.ts';
import { atOf, flag, moment, type Options } from '../options.ts';
import { oneLine } from '../paint.ts';
import { type Cell, table } from '../table.ts';
import { type Compare, changesText, differenceText, suspendedNames } from '../tools.changes.ts';

function toolTable({ tools }: Tools, view: View): string {
  const rows = tools.map((tool): Cell[] => [
    { text: tool.name, color: 'bold' },
    tool.allowed ? { text: 'yes', color: 'green' } : { text: 'asks', color: 'dim' },
    { text: tool.stale ? 'last known' : '', color: 'yellow' },
    { text: oneLine(tool.title ?? tool.description) },
  ]);
  return table(
    [{ title: 'TOOL' }, { title: 'ALLOWED' }, { title: 'LIST' }, { title: 'ABOUT', shrinksTo: 20 }],
    rows,
    view,
  );
}

async function compare(): Promise<Compare> {
  const { toolDiff, lineText } = await import('../../replay/tool.diff.ts');
  return {
    diff: ({ before, after, parts }) => (before && after ? toolDiff(before, after, parts) : []),
    text: lineText,
  };
}

async function changes(context: Context, server: string | undefined, options: Options): Promise<Answer> {
  const { api, now } = context;
  if (options.at !== undefined)
    throw usedWrongly('--at shows the tools of one moment; changes lie between --from and --to.', 'tools --changes');
  const from = moment(options, 'from', now());
  const to = moment(options, 'to', now());
  const inOneStep = flag(options, 'diff');
  if (inOneStep && from === undefined)
    throw usedWrongly('--diff compares two moments: say the first one with --from.', 'tools --diff --from yesterday');
  if (from && to && 'time' in from && 'time' in to && from.time > to.time)
    throw usedWrongly('--from is after --to; exchange them.', 'tools --changes');
  let offline = false;
  const found = await unlessNoDaemon(
    api,
    async () => {
      const answer = await api.toolsHistory({ server, from: atOf(from), to: atOf(to) });
      if (server !== undefined && answer.tools.length === 0) await mustKnow(api, server, 'tools --changes');
      return answer;
    },
    (unreachable) => {
      offline = true;
      return offlineToolsHistory(context, { server, from, to }, unreachable);
    },
  );
  const comparing = await compare();
  const suspended = suspendedNames(found);
  return {
    kind: 'answer',
    json: found,
    text: (view) => (inOneStep ? differenceText : changesText)(found, comparing, view),
    notes: [
      ...(offline ? offlineNotes({ unwatchedSince: null }) : []),
      ...(suspended.length > 0 ? [`Calls of these ask again: ${suspended.join(', ')}. See: watchkeeper allow`] : []),
    ],
  };
}

/** Whether the log has anything of a server: one that was removed is still known to the past. */
const wasThere = async (api: Context['api'], server: string): Promise<boolean> =>
  (await api.events({ stream: `server-${server}`, limit: 1 })).events.length > 0;

export const tools: Command = {
  description: {
    name: 'tools',
    group: 'Tools and calls',
    summary: 'list the tools of all servers',
    arguments: [{ name: '[server]', about: 'only tools of this server' }],
    options: [
      { flags: '--at <T>', about: 'as they were then: a time, a log position or a span such as 2h' },
      { flags: '--changes', about: 'what was added, removed and changed, definitions word by word' },
      { flags: '--diff', about: 'the same from --from to --to in one step' },
      { flags: '--from <T>', about: 'with --changes or --diff: nothing before this moment' },
      { flags: '--to <T>', about: 'with --changes or --diff: nothing after this moment' },
    ],
    examples: [
      { line: 'tools', about: 'every tool, and whether it may run without asking' },
      { line: 'tools memory --json', about: 'with full input schemas' },
      {
        line: 'tools memory --changes --from 7d',
        about: 'every change of the last week, and since when a tool is what it is',
      },
      { line: 'tools memory --diff --from yesterday', about: 'what is different from yesterday' },
    ],
  },
  async run(context, { positional: [server] }, options) {
    if (flag(options, 'changes') || flag(options, 'diff')) return changes(context, server, options);
    if (options.from !== undefined || options.to !== undefined)
      throw usedWrongly('--from and --to belong to --changes or --diff.', 'tools --changes');
    const { api, now } = context;
    const when = moment(options, 'at', now());
    const at = atOf(when);
    let notes: string[] = [];
    const online = async (): Promise<Tools> => {
      if (server === undefined) return await api.tools({ at });
      const answer = await aboutServer(api, server, 'tools', () => api.tools({ server, at }));
      if (answer.tools.length === 0 && !(at !== undefined && (await wasThere(api, server))))
        await mustKnow(api, server, 'tools');
      return answer;
    };
    const found =
      when === undefined
        ? await online()
        : await unlessNoDaemon(api, online, async (unreachable) => {
            const past = await offlineToolsAt(context, { server, at: when }, unreachable);
            notes = offlineNotes(past);
            return past.answer;
          });
    return {
      kind: 'answer',
      json: found,
      text: (view) => (found.tools.length > 0 ? toolTable(found, view) : 'No tools.\n'),
      notes:
        found.tools.length > 0 || notes.length > 0
          ? notes
          : [`See why: watchkeeper status${server === undefined ? '' : ` ${server}`}`],
    };
  },
};
