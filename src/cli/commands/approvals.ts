import type { Call, Calls, Client } from '../../api/client.ts';
import { visibleJson, visibleName } from '../../visible.ts';
import { aboutHeldCall } from '../ask.daemon.ts';
import type { Answer, Command, View } from '../command.ts';
import { duration } from '../duration.ts';
import { CommandError } from '../failure.ts';
import { outcomeSentence } from '../outcome.text.ts';
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
      { text: call.arguments ? visibleJson(call.arguments) : '' },
    ]),
    view,
  );

/** Longer lines of arguments are folded: what was left out is said. */
const LINES = 40;

function folded(args: Readonly<Record<string, unknown>>): string {
  const lines = visibleJson(args, 2).split('\n');
  const shown =
    lines.length <= LINES + 1 ? lines : [...lines.slice(0, LINES), `… ${lines.length - LINES} more lines: --json`];
  return shown
    .map((line) => `    ${line.length <= 500 ? line : `${line.slice(0, 500)}… (${line.length} characters: --json)`}\n`)
    .join('');
}

/** Everything that is known of a held call; hashes tell one server and one definition from another. */
function heldText(call: Call, view: View): string {
  const { command, args, url } = call.server_entry ?? {};
  const entry = typeof url === 'string' ? url : [command, ...(Array.isArray(args) ? args : [])].map(String).join(' ');
  const left = call.expiresAt === null ? '' : duration(Date.parse(call.expiresAt) - view.now);
  const rows: readonly (readonly [string, string])[] = [
    ['call', `${call.id}, from ${call.client} by ${call.door}, ${left} left`],
    ['server', `${call.server}  ${oneLine(entry)}`],
    ['identity', call.identity],
    ['tool', visibleName(call.tool)],
    ['definition', call.definition],
  ];
  return [
    `${view.paint('bold', call.name)}\n`,
    ...rows.map(([title, text]) => `  ${view.paint('dim', title.padEnd(10))} ${text}\n`),
    ...(call.unusual ?? []).map((line) => `  ${view.paint('yellow', '!')} ${oneLine(line)}\n`),
    `  ${view.paint('dim', 'arguments')}\n${folded(call.arguments ?? {})}`,
  ].join('');
}

async function one(api: Client, given: string): Promise<Answer> {
  const call = await aboutHeldCall(api, given, 'approvals', (id) => api.callById(id));
  if (call.state !== 'held' && call.state !== 'approved')
    throw new CommandError(`It waits for nobody: ${outcomeSentence(call)}`, {
      next: [`ledger show ${call.id}`, 'approvals'],
    });
  return {
    kind: 'answer',
    json: call,
    text: (view) => heldText(call, view),
    notes: [
      `Decide: watchkeeper approve ${call.id} [--remember tool|server], or watchkeeper deny ${call.id} --reason "..."`,
    ],
  };
}

export const approvals: Command = {
  description: {
    name: 'approvals',
    group: 'Tools and calls',
    summary: 'list the calls that wait for a person, or show one whole',
    arguments: [
      { name: '[id]', about: 'the id of a call, or its beginning: all its arguments, and what they are for' },
    ],
    examples: [
      { line: 'approvals', about: 'latest first, with what is left of their time' },
      { line: 'approvals c7f2', about: 'everything there is to know before deciding about this one' },
    ],
  },
  async run({ api }, { positional: [given] }) {
    if (given !== undefined) return one(api, given);
    const held = await api.calls({ state: 'held', limit: 1000 });
    const [first] = held.calls;
    return {
      kind: 'answer',
      json: held,
      text: (view) => (first ? heldTable(held, view) : 'No call waits for a person.\n'),
      notes: first
        ? [
            `See one whole: watchkeeper approvals ${first.id}`,
            `Decide: watchkeeper approve ${first.id}, or watchkeeper deny ${first.id}`,
          ]
        : [],
    };
  },
};
