import type { Tools } from '../../api/client.ts';
import { aboutServer, mustKnow } from '../ask.daemon.ts';
import type { Command, View } from '../command.ts';
import { atOf, moment } from '../options.ts';
import { oneLine } from '../paint.ts';
import { type Cell, table } from '../table.ts';

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

export const tools: Command = {
  description: {
    name: 'tools',
    group: 'Tools and calls',
    summary: 'list the tools of all servers',
    arguments: [{ name: '[server]', about: 'only tools of this server' }],
    options: [{ flags: '--at <T>', about: 'as they were then: a time, a log position or a span such as 2h' }],
    examples: [
      { line: 'tools', about: 'every tool, and whether it may run without asking' },
      { line: 'tools memory --json', about: 'with full input schemas' },
    ],
  },
  async run({ api, now }, { positional: [server] }, options) {
    const at = atOf(moment(options, 'at', now()));
    const found =
      server === undefined
        ? await api.tools({ at })
        : await aboutServer(api, server, 'tools', () => api.tools({ server, at }));
    if (server !== undefined && found.tools.length === 0 && at === undefined) await mustKnow(api, server, 'tools');
    return {
      kind: 'answer',
      json: found,
      text: (view) => (found.tools.length > 0 ? toolTable(found, view) : 'No tools.\n'),
      notes: found.tools.length > 0 ? [] : [`See why: watchkeeper status${server === undefined ? '' : ` ${server}`}`],
    };
  },
};
