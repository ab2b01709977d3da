import type { Answer, Command } from '../command.ts';
import { renameInFile, textOf } from '../edit.file.ts';
import { CommandError, exitCode } from '../failure.ts';
import { flag } from '../options.ts';

type Renames = readonly { readonly from: string; readonly to: string }[];

async function planned(file: string): Promise<Renames> {
  const text = await textOf(file);
  if (text === null) return [];
  const { parseConfig } = await import('../../config/parse.ts');
  const { planRenames } = await import('../../config/names.ts');
  const parsed = parseConfig(text);
  if (!parsed.ok) throw new CommandError(`${file}: ${parsed.problem.message}.`, { next: ['config check'] });
  return planRenames([...parsed.raw.keys()]);
}

const preview = (renames: Renames): string =>
  renames.map(({ from, to }) => `  ${JSON.stringify(from)} → ${to}\n`).join('');

const answer = (renames: Renames, written: boolean, text: string, notes: readonly string[] = []): Answer => ({
  kind: 'answer',
  json: { ok: true, written, renames },
  text: () => text,
  notes,
});

export const configFix: Command = {
  description: {
    name: 'config fix',
    group: 'Files',
    summary: 'rename servers whose names are not allowed',
    options: [
      { flags: '--yes', about: 'do not ask' },
      { flags: '--dry-run', about: 'only show what would be renamed' },
    ],
    examples: [
      { line: 'config fix --dry-run', about: 'shows the new names' },
      { line: 'config fix --yes', about: 'writes them; everything else in the file stays as it is' },
    ],
  },
  async run({ files: { configFile }, ask }, _words, options) {
    const renames = await planned(configFile);
    if (renames.length === 0) return answer(renames, false, 'Every server has a name that is allowed.\n');
    if (flag(options, 'dryRun'))
      return answer(renames, false, preview(renames), ['To write them: watchkeeper config fix --yes']);
    if (!flag(options, 'yes')) {
      if (!ask)
        throw new CommandError(`Nothing was written; these would be renamed:\n${preview(renames).trimEnd()}`, {
          next: ['config fix --yes'],
        });
      const said = await ask({
        text: `These servers get other names in ${configFile}:\n${preview(renames)}Write them?`,
        choices: [
          { key: 'y', label: 'yes' },
          { key: 'n', label: 'no' },
        ],
        otherwise: 'n',
      });
      if (said !== 'y')
        throw new CommandError('Nothing was written.', { exit: exitCode.refused, next: ['config fix --dry-run'] });
    }
    for (const { from, to } of renames) await renameInFile(configFile, from, to);
    return answer(renames, true, preview(renames), [
      'Grants of the old names in allow_tool are not renamed: watchkeeper allow',
    ]);
  },
};
