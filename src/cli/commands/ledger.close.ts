import type { Command } from '../command.ts';
import { usedWrongly } from '../failure.ts';
import { callText } from '../ledger.text.ts';
import { text } from '../options.ts';

const findings = ['ran', 'not-run', 'cannot-tell'] as const;

export const ledgerClose: Command = {
  description: {
    name: 'ledger close',
    group: 'Tools and calls',
    summary: 'say what came of a call whose outcome is unknown',
    arguments: [{ name: '<id>', about: 'the id of the call' }],
    options: [
      { flags: '--finding <finding>', about: 'what you found out', choices: findings },
      { flags: '--note <text>', about: 'how you know, for whoever reads it later' },
    ],
    examples: [
      { line: 'ledger close mx413s26webyh --finding ran --note "the issue is there"', about: 'it took effect' },
      { line: 'ledger close mx413s26webyh --finding not-run', about: 'it may be made again' },
    ],
  },
  async run({ api }, { positional: [id = ''] }, options) {
    const finding = findings.find((one) => one === text(options, 'finding'));
    if (finding === undefined)
      throw usedWrongly('Say what you found out.', `ledger close ${id || '<id>'} --finding ran`);
    const call = await api.closeCall(id, finding, text(options, 'note'));
    return { kind: 'answer', json: call, text: (view) => callText(call, view), confirms: true };
  },
};
