import { unlessNoDaemon } from '../ask.daemon.ts';
import type { Answer, Command } from '../command.ts';
import { addToFile } from '../edit.file.ts';
import { entryOf, entryOptions, relativeHints, secretHints } from '../entry.options.ts';

const done = (text: string, ...notes: string[]): Answer => ({
  kind: 'answer',
  json: { ok: true },
  text: () => `${text}\n`,
  confirms: true,
  notes,
});

export const add: Command = {
  description: {
    name: 'add',
    group: 'Servers',
    summary: 'add a server to the configuration, or replace it',
    arguments: [{ name: '<name>', about: 'letters, digits, - and _; part of the name of each of its tools' }],
    takesCommand: true,
    options: entryOptions,
    examples: [
      { line: 'add memory -- npx -y @modelcontextprotocol/server-memory', about: 'a server that runs as a process' },
      {
        line: `add tracker --url https://tracker.example/mcp --header 'Authorization=Bearer \${TRACKER_TOKEN}'`,
        about: 'a server behind a URL, the secret kept out of the file',
      },
    ],
  },
  async run({ api, files }, words, options) {
    const [name = ''] = words.positional;
    const entry = entryOf(words, options, 'add');
    return unlessNoDaemon(
      api,
      async () => {
        const replaces = Object.hasOwn((await api.config()).servers, name);
        await api.addServer(name, entry);
        return done(
          `${name} is ${replaces ? 'replaced' : 'added'}; the daemon connects to it now.`,
          `See how it goes: watchkeeper status ${name}`,
          ...relativeHints(words, options),
          ...secretHints(options),
        );
      },
      async () => {
        const { replaced } = await addToFile(files.configFile, name, entry);
        return done(
          `${name} is ${replaced ? 'replaced' : 'added'} in ${files.configFile}.`,
          'No daemon runs: the server starts with watchkeeper up --detach',
          ...relativeHints(words, options),
          ...secretHints(options),
        );
      },
    );
  },
};
