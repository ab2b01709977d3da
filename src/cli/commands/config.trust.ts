import { homeFolder } from '../../config/home.ts';
import type { Command } from '../command.ts';
import { CommandError } from '../failure.ts';

export const configTrust: Command = {
  description: {
    name: 'config trust',
    group: 'Files',
    summary: 'let allow_tool and watchkeeper.json beside the file count',
    examples: [{ line: 'config trust --config ./mcp.json', about: 'after you have read the files beside it' }],
  },
  async run({ files: { configFile, allowFile, settingsFile, dataDir }, env }) {
    const { isTrusted, trust } = await import('../../config/trust.ts');
    const home = homeFolder(env);
    const already = await isTrusted(configFile, home, dataDir);
    if (!already) {
      await trust(configFile, dataDir).catch((error: unknown) => {
        throw new CommandError(error instanceof Error ? `${error.message}.` : String(error), { next: ['config path'] });
      });
    }
    return {
      kind: 'answer',
      json: { ok: true, config: configFile, already },
      text: () =>
        already
          ? `${configFile} is trusted already.\n`
          : `${configFile} is trusted; these count from now on:\n  ${allowFile}\n  ${settingsFile}\n`,
      confirms: true,
      notes: already ? [] : ['A running daemon reads them when it starts: watchkeeper down && watchkeeper up --detach'],
    };
  },
};
