import type { Command } from '../command.ts';
import { eventLine } from '../event.text.ts';
import { callText } from '../ledger.text.ts';

export const ledgerShow: Command = {
  description: {
    name: 'ledger show',
    group: 'Tools and calls',
    summary: 'show one call, fact by fact',
    arguments: [{ name: '<id>', about: 'the id of the call' }],
    examples: [{ line: 'ledger show mx413s26webyh', about: 'from the moment it was asked for to its end' }],
  },
  async run({ api }, { positional: [id = ''] }) {
    const call = await api.callById(id);
    const { events } = await api.events({ stream: `call-${id}`, limit: 1000 });
    return {
      kind: 'answer',
      json: { ...call, facts: events },
      text: (view) => `${callText(call, view)}\n${events.map((event) => eventLine(event, view)).join('')}`,
      notes:
        call.outcome === 'unknown' && call.closed === null
          ? [`When you know what came of it: watchkeeper ledger close ${id} --finding ran|not-run|cannot-tell`]
          : [],
    };
  },
};
