import { aboutServer, unlessNoDaemon } from '../ask.daemon.ts';
import type { Command } from '../command.ts';
import { setDisabledInFile } from '../edit.file.ts';

export const enable: Command = {
  description: {
    name: 'enable',
    group: 'Servers',
    summary: 'let a disabled server run again',
    arguments: [{ name: '<server>', about: 'its name in the configuration file' }],
    examples: [{ line: 'enable github', about: 'removes "disabled" from the entry and starts the server' }],
  },
  run: ({ api, files }, { positional: [name = ''] }) =>
    unlessNoDaemon(
      api,
      async () => ({
        kind: 'answer',
        json: await aboutServer(api, name, 'enable', () => api.enableServer(name)),
        text: () => `${name} is enabled and starts now.\n`,
        confirms: true,
        notes: [`See how it goes: watchkeeper status ${name}`],
      }),
      async () => {
        await setDisabledInFile(files.configFile, name, false, 'enable');
        return {
          kind: 'answer',
          json: { ok: true },
          text: () => `${name} is enabled in ${files.configFile}.\n`,
          confirms: true,
          notes: ['No daemon runs: the server starts with watchkeeper up --detach'],
        };
      },
    ),
};
