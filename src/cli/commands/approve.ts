import { aboutHeldCall, settled } from '../ask.daemon.ts';
import type { Command } from '../command.ts';
import { text } from '../options.ts';
import { exitOf, outcomeSentence, resultOf, resultText } from '../outcome.text.ts';

const scopes = ['once', 'tool', 'server'] as const;

export const approve: Command = {
  description: {
    name: 'approve',
    group: 'Tools and calls',
    summary: 'let a held call run',
    arguments: [{ name: '<id>', about: 'the id of the call, or its beginning' }],
    options: [
      {
        flags: '--remember <scope>',
        about: 'once (default): this call only; tool: this tool from now on; server: all tools of the server',
        choices: scopes,
      },
    ],
    examples: [
      { line: 'approve c7f2', about: 'this call, once' },
      { line: 'approve c7f2 --remember tool', about: 'and do not ask again for this tool' },
    ],
  },
  async run({ api }, { positional: [given = ''] }, options) {
    const remember = scopes.find((scope) => scope === text(options, 'remember')) ?? 'once';
    const { id } = await aboutHeldCall(api, given, 'approve', (known) => api.approve(known, remember));
    const call = await settled(api, id);
    const result = resultOf(call);
    return {
      kind: 'answer',
      json: call,
      text: (view) => (result ? resultText(result, view) : `${outcomeSentence(call)}\n`),
      confirms: result === null,
      exit: exitOf(call.outcome),
      notes: remember === 'once' ? [] : [`See what is allowed: watchkeeper allow ${call.server}`],
    };
  },
};
