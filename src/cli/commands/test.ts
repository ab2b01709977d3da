import type { TestResult } from '../../api/client.ts';
import type { Command, View } from '../command.ts';
import { counted } from '../duration.ts';
import { entryOf, entryOptions } from '../entry.options.ts';
import { exitCode } from '../failure.ts';
import { errorWords, harmless, oneLine } from '../paint.ts';

function resultText({ ok, tools = [], error, stderr }: TestResult, view: View): string {
  const names = tools.map(({ name }) => `  ${oneLine(name)}\n`).join('');
  const verdict = ok
    ? view.paint('green', `It works: ${counted(tools.length, 'tool')}.`)
    : view.paint('red', error ? errorWords(error) : 'It does not work.');
  const said = !ok && stderr ? `What it wrote to stderr:\n${harmless(stderr).trimEnd().replace(/^/gm, '  ')}\n` : '';
  return `${verdict}\n${names}${said}`;
}

export const test: Command = {
  description: {
    name: 'test',
    group: 'Servers',
    summary: 'try a server without saving it',
    arguments: [{ name: '[name]', about: 'ignored, so that a line with "add" can be tried as it is' }],
    takesCommand: true,
    options: entryOptions,
    examples: [
      { line: 'test -- npx -y @modelcontextprotocol/server-memory', about: 'prints its tools, or why it fails' },
    ],
  },
  async run({ api }, words, options) {
    const result = await api.testServer(entryOf(words, options, 'test'));
    return {
      kind: 'answer',
      json: result,
      text: (view) => resultText(result, view),
      exit: result.ok ? exitCode.done : exitCode.failed,
    };
  },
};
