import type { Reconnected } from '../../api/client.ts';
import { aboutServer } from '../ask.daemon.ts';
import type { Command, View } from '../command.ts';
import { exitCode } from '../failure.ts';
import { span } from '../options.ts';
import { errorWords } from '../paint.ts';
import { stateCell } from '../status.text.ts';
import { type Cell, table } from '../table.ts';

const resultTable = ({ servers }: Reconnected, view: View): string =>
  table(
    [{ title: 'SERVER' }, { title: 'STATE' }, { title: 'ERROR', shrinksTo: 20 }],
    servers.map(({ name, state, error }): Cell[] => [
      { text: name, color: 'bold' },
      stateCell(state),
      { text: error ? errorWords(error) : '', color: 'red' },
    ]),
    view,
  );

export const reconnect: Command = {
  description: {
    name: 'reconnect',
    group: 'Servers',
    summary: 'close the connection to a server, or all, and open it anew',
    arguments: [{ name: '[server]', about: 'only this server' }],
    options: [
      {
        flags: '--timeout <span>',
        about: 'how long to wait for each, such as 30s (its connectTimeoutMs and listTimeoutMs, and 10s)',
      },
    ],
    examples: [
      { line: 'reconnect github', about: 'also ends the waiting of a server that failed for good' },
      { line: 'reconnect', about: 'all servers' },
    ],
  },
  async run({ api }, { positional: [name] }, options) {
    const timeoutMs = span(options, 'timeout');
    const done =
      name === undefined
        ? await api.reconnect({ timeoutMs })
        : await aboutServer(api, name, 'reconnect', () => api.reconnect({ name, timeoutMs }));
    const failed = done.servers.find(({ ok }) => !ok);
    return {
      kind: 'answer',
      json: done,
      text: (view) => (done.servers.length > 0 ? resultTable(done, view) : 'No servers are configured.\n'),
      exit: done.ok ? exitCode.done : exitCode.failed,
      notes: failed ? [`What happened to it: watchkeeper log ${failed.name}`] : [],
    };
  },
};
