import type { ToolChanges } from '../../api/client.ts';
import { visibleText } from '../../visible.ts';
import { aboutServer, unlessNoDaemon } from '../ask.daemon.ts';
import type { Answer, Command, View } from '../command.ts';
import { localTime } from '../duration.ts';
import { NO_DAEMON } from '../offline.log.ts';
import { atOf, moment } from '../options.ts';
import { oneLine } from '../paint.ts';

type Change = ToolChanges['changes'][number];

const grantWords = ({ change, grant }: Change): string => {
  if (grant === null) return '';
  if (grant.suspended) return 'its grant is suspended';
  return change === 'added' ? `runs without asking: ${grant.entry}` : `still granted: ${grant.entry}`;
};

type LineText = typeof import('../../replay/tool.diff.ts')['lineText'];

function changeText(change: Change, lineText: LineText, view: View): string {
  const { at, name, words } = change;
  const sign = change.change === 'added' ? view.paint('green', '+') : view.paint('yellow', '~');
  const grant = grantWords(change);
  const color = change.grant?.suspended ? 'dim' : 'red';
  const head = `${view.paint('dim', localTime(at))}  ${sign} ${view.paint('bold', name)}${grant === '' ? '' : `  ${view.paint(color, grant)}`}\n`;
  const lines = words.map((line) => {
    const text = lineText({ ...line, path: oneLine(line.path) }, ({ kind, text: piece }) => {
      // What changed may be what nobody sees.
      const plain = visibleText(piece);
      if (kind === 'same') return plain;
      return kind === 'added' ? view.paint('green', `{+${plain}+}`) : view.paint('red', `[-${plain}-]`);
    });
    return `    ${text}\n`;
  });
  return head + lines.join('');
}

export const changes: Command = {
  description: {
    name: 'changes',
    group: 'Tools and calls',
    summary: 'show which tools lately changed what they say of themselves, over all servers',
    arguments: [{ name: '[server]', about: 'only tools of this server' }],
    options: [{ flags: '--since <T>', about: 'a time, a log position or a span ago; 7d unless given' }],
    examples: [
      { line: 'changes', about: 'the last seven days, word by word, latest first' },
      { line: 'changes --since yesterday', about: 'what is different from yesterday' },
    ],
  },
  async run(context, { positional: [server] }, options): Promise<Answer> {
    const { api, now } = context;
    const since = moment(options, 'since', now());
    const from = atOf(since);
    let offline: readonly string[] = [];
    const ask = (): Promise<ToolChanges> => api.toolChanges({ server, from });
    const found = await unlessNoDaemon(
      api,
      () => (server === undefined ? ask() : aboutServer(api, server, 'changes', ask)),
      async (why) => {
        offline = [NO_DAEMON];
        const { offlineChanges } = await import('../offline.changes.ts');
        return offlineChanges(context, { server, from: since }, why);
      },
    );
    const { lineText } = await import('../../replay/tool.diff.ts');
    const suspended = found.changes.some(({ grant }) => grant?.suspended);
    return {
      kind: 'answer',
      json: found,
      text: (view) =>
        found.changes.length > 0
          ? found.changes.map((change) => changeText(change, lineText, view)).join('')
          : 'No definition changed.\n',
      notes: [...offline, ...(suspended ? ['Calls of these ask again; to give a grant anew: watchkeeper allow'] : [])],
    };
  },
};
