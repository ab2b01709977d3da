import type { Calls } from '../../api/client.ts';
import type { Command, View } from '../command.ts';
import { duration } from '../duration.ts';
import { oneLine } from '../paint.ts';
import { type Cell, table } from '../table.ts';

const heldTable = ({ calls }: Calls, view: View): string =>
  table(
    [
      { title: 'CALL' },
      { title: 'TOOL' },
      { title: 'FROM' },
      { title: 'LEFT' },
      { title: 'LOOK AT', shrinksTo: 20 },
      { title: 'ARGUMENTS', shrinksTo: 20 },
    ],
    calls.map((call): Cell[] => [
      { text: call.id, color: 'bold' },
      { text: call.name },
      { text: call.client },
      { text: call.expiresAt === null ? '' : duration(Date.parse(call.expiresAt) - view.now) },
      { text: oneLine((call.unusual ?? []).join('; ')), color: 'yellow' },
      { text: call.arguments ? oneLine(JSON.stringify(call.arguments)) : '' },
    ]),
    view,
  );

export const approvals: Command = {
  description: {
    name: 'approvals',
    group: 'Tools and calls',
    summary: 'list the calls that wait for a person',
    examples: [{ line: 'approvals', about: 'latest first, with what is left of their time' }],
  },
  async run({ api }) {
    const held = await api.calls({ state: 'held', limit: 1000 });
    const [first] = held.calls;
    return {
      kind: 'answer',
      json: held,
      text: (view) => (first ? heldTable(held, view) : 'No call waits for a person.\n'),
      notes: first ? [`Decide: watchkeeper approve ${first.id}, or watchkeeper deny ${first.id}`] : [],
    };
  },
};
