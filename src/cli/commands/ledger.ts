import { unlessNoDaemon } from '../ask.daemon.ts';
import type { Answer, Command } from '../command.ts';
import { usedWrongly } from '../failure.ts';
import { callTable } from '../ledger.text.ts';
import { NO_DAEMON } from '../offline.log.ts';
import { count, flag, text } from '../options.ts';

const outcomes = [
  'succeeded',
  'tool-error',
  'refused',
  'denied',
  'expired',
  'failed',
  'cancelled',
  'unknown',
  'abandoned',
] as const;

/** Said with what was read from the file: what still waits there ended with its daemon. */
export const READ_FROM_FILE = `${NO_DAEMON} Calls that were open will be closed when one starts.`;

export const ledger: Command = {
  description: {
    name: 'ledger',
    group: 'Tools and calls',
    summary: 'list the calls there were, and how each ended',
    arguments: [{ name: '[server]', about: 'only calls of this server' }],
    options: [
      { flags: '--open', about: 'only those of which nobody knows whether they ran, and that nobody closed' },
      { flags: '--outcome <outcome>', about: 'only those that ended so', choices: outcomes },
      { flags: '--client <client>', about: 'only those of this client, such as main, socket or cursor' },
      { flags: '--before <id>', about: 'only those that were asked for before this one' },
      { flags: '--limit <n>', about: 'at most so many; 50 unless given' },
    ],
    examples: [
      { line: 'ledger', about: 'the latest fifty' },
      { line: 'ledger --open', about: 'what may have run: to be looked into and closed' },
      { line: 'ledger github --outcome denied', about: 'what people said no to' },
    ],
  },
  async run({ api, files }, { positional: [server] }, options): Promise<Answer> {
    const open = flag(options, 'open');
    if (open && text(options, 'outcome') !== undefined)
      throw usedWrongly('--open already says how they ended: unknown.', 'ledger --open');
    const asked = {
      server,
      open: open ? true : undefined,
      outcome: text(options, 'outcome'),
      client: text(options, 'client'),
      before: text(options, 'before'),
      limit: Math.min(count(options, 'limit') ?? 50, 1000),
    };
    let offline: readonly string[] = [];
    const found = await unlessNoDaemon(
      api,
      () => api.calls(asked),
      async (why) => {
        offline = [READ_FROM_FILE];
        const { offlineCalls } = await import('../offline.ledger.ts');
        return offlineCalls(files.databaseFile, asked, why);
      },
    );
    const [first] = found.calls;
    const more = found.next === null ? [] : [`Earlier ones: watchkeeper ledger --before ${found.next}`];
    const close = open && first ? [`When you know: watchkeeper ledger close ${first.id} --finding ran|not-run`] : [];
    return {
      kind: 'answer',
      json: found,
      text: (view) =>
        first ? callTable(found, view) : open ? 'Of every call it is known how it ended.\n' : 'No calls.\n',
      notes: [...offline, ...close, ...more],
    };
  },
};
