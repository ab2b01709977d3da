import { adviceFor } from '../advice.text.ts';
import type { Command, View } from '../command.ts';
import type { Finding, Findings } from '../config.findings.ts';
import { counted } from '../duration.ts';
import { exitCode } from '../failure.ts';
import { oneLine } from '../paint.ts';

const findingLine = ({ server, level, message }: Finding, view: View): string =>
  `  ${view.paint(level === 'error' ? 'red' : 'yellow', level)}  ${server === undefined ? '' : `${server}: `}${adviceFor(oneLine(message), view)}\n`;

function sumOf({ exists, servers, findings }: Findings, configFile: string): string {
  if (!exists) return `${configFile} does not exist: no servers.\n`;
  const wrong = new Set(
    findings.flatMap(({ level, server }) => (level === 'error' && server !== undefined ? [server] : [])),
  );
  const verdict = wrong.size === 0 ? '' : `, ${wrong.size} of them cannot be used`;
  return `${configFile}: ${counted(servers.length, 'server')}${verdict}.\n`;
}

function report(found: Findings, configFile: string, view: View): string {
  const files = [...new Set(found.findings.map(({ file }) => file))];
  const lines = files.map((file) => {
    const about = found.findings.filter((finding) => finding.file === file);
    return `${file}\n${about.map((finding) => findingLine(finding, view)).join('')}`;
  });
  return lines.join('') + sumOf(found, configFile);
}

export const configCheck: Command = {
  description: {
    name: 'config check',
    group: 'Files',
    summary: 'check servers and settings without starting anything',
    examples: [{ line: 'config check', about: 'exit code 1 when something is wrong; warnings alone are fine' }],
  },
  async run({ files, env }) {
    const { findingsOf } = await import('../config.findings.ts');
    const found = await findingsOf(files, env);
    const ok = found.findings.every(({ level }) => level !== 'error');
    return {
      kind: 'answer',
      json: { ok, config: files.configFile, ...found },
      text: (view) => report(found, files.configFile, view),
      exit: ok ? exitCode.done : exitCode.failed,
      notes: found.findings.some(({ message }) => message.includes('config fix'))
        ? ['To rename them: watchkeeper config fix']
        : [],
    };
  },
};
