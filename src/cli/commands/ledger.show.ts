import { unlessNoDaemon } from '../ask.daemon.ts';
import type { Command } from '../command.ts';
import { eventLine } from '../event.text.ts';
import { callText } from '../ledger.text.ts';
import { READ_FROM_FILE } from './ledger.ts';

export const ledgerShow: Command = {
  description: {
    name: 'ledger show',
    group: 'Tools and calls',
    summary: 'show one call, fact by fact',
    arguments: [{ name: '<id>', about: 'the id of the call' }],
    examples: [{ line: 'ledger show mx413s26webyh', about: 'from the moment it was asked for to its end' }],
  },
  async run({ api, files }, { positional: [id = ''] }) {
    let offline: readonly string[] = [];
    const { call, events } = await unlessNoDaemon(
      api,
      async () => ({
        call: await api.callById(id),
        events: (await api.events({ stream: `call-${id}`, limit: 1000 })).events,
      }),
      async (why) => {
        offline = [READ_FROM_FILE];
        const { offlineCall } = await import('../offline.ledger.ts');
        return offlineCall(files.databaseFile, id, why);
      },
    );
    return {
      kind: 'answer',
      json: { ...call, facts: events },
      text: (view) => `${callText(call, view)}\n${events.map((event) => eventLine(event, view)).join('')}`,
      notes: [
        ...offline,
        ...(call.outcome === 'unknown' && call.closed === null
          ? [`When you know what came of it: watchkeeper ledger close ${id} --finding ran|not-run|cannot-tell`]
          : []),
      ],
    };
  },
};
