import { aboutServer, unlessNoDaemon } from '../ask.daemon.ts';
import type { Command } from '../command.ts';
import { setDisabledInFile } from '../edit.file.ts';

export const disable: Command = {
  description: {
    name: 'disable',
    group: 'Servers',
    summary: 'keep a server, but do not run it',
    arguments: [{ name: '<server>', about: 'its name in the configuration file' }],
    examples: [{ line: 'disable github', about: 'stops the server until "watchkeeper enable github"' }],
  },
  run: ({ api, files }, { positional: [name = ''] }) =>
    unlessNoDaemon(
      api,
      async () => ({
        kind: 'answer',
        json: await aboutServer(api, name, 'disable', () => api.disableServer(name)),
        text: () => `${name} is disabled; it stops now.\n`,
        confirms: true,
        notes: [`Run it again: watchkeeper enable ${name}`],
      }),
      async () => {
        await setDisabledInFile(files.configFile, name, true, 'disable');
        return {
          kind: 'answer',
          json: { ok: true },
          text: () => `${name} is disabled in ${files.configFile}.\n`,
          confirms: true,
          notes: [`Run it again: watchkeeper enable ${name}`],
        };
      },
    ),
};
