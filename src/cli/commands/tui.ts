import type { Command } from '../command.ts';

export const tui: Command = {
  description: {
    name: 'tui',
    group: 'Daemon',
    summary: 'manage servers and held calls on the terminal',
    examples: [{ line: 'tui', about: 'the same as watchkeeper /mcp' }],
  },
  async run() {
    const { runTerminal } = await import('../../tui/main.tsx');
    await runTerminal({ title: 'hello' });
    return { kind: 'answer', json: {}, text: () => '' };
  },
};
