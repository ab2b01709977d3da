import type { Command } from '../command.ts';
import { takeDown } from '../daemon.down.ts';

export const down: Command = {
  description: {
    name: 'down',
    group: 'Daemon',
    summary: 'end the daemon and all its servers',
    examples: [{ line: 'down', about: 'exit code 3 when no daemon runs' }],
  },
  async run(context) {
    const { pid, by } = await takeDown(context);
    return {
      kind: 'answer',
      json: { ok: true, pid, by },
      text: () => `The daemon (pid ${pid}) has ended.\n`,
      confirms: true,
    };
  },
};
