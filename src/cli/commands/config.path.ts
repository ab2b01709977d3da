import { existsSync } from 'node:fs';
import type { Command } from '../command.ts';

export const configPath: Command = {
  description: {
    name: 'config path',
    group: 'Files',
    summary: 'print which files are used',
    examples: [{ line: 'config path', about: 'the configuration file, what stands beside it, and the data directory' }],
  },
  async run({ files }) {
    const { configFile, allowFile, settingsFile, variablesFile, dataDir } = files;
    const shown = {
      config: configFile,
      allowlist: allowFile,
      settings: settingsFile,
      variables: variablesFile,
      data: dataDir,
    };
    return {
      kind: 'answer',
      json: shown,
      text: (view) =>
        Object.entries(shown)
          .map(
            ([what, file]) =>
              `${what.padEnd(10)} ${file}${existsSync(file) ? '' : view.paint('dim', '  (does not exist)')}\n`,
          )
          .join(''),
    };
  },
};
