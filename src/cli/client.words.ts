/** What the commands about AI clients share: finding the client, reaching the daemon, what is said. */
import type { Health } from '../api/client.ts';
import { readDaemonFile } from '../api/endpoint.ts';
import type { ClientWarning } from '../clients/checks.ts';
import type { ClientDescriptor } from '../clients/descriptor.ts';
import { clientCalled, knownClients } from '../clients/known.ts';
import type { Reach } from '../clients/plan.ts';
import { resolvePaths } from '../config/paths.ts';
import type { Context } from './command.ts';
import { CommandError, exitCode, usedWrongly } from './failure.ts';
import { harmless, type Paint } from './paint.ts';
import { didYouMean, nearest } from './suggest.ts';

/** The client a person means; used wrongly, with near names, when there is none. */
export function mustBeClient(word: string, command: string): ClientDescriptor {
  const client = clientCalled(word);
  if (client) return client;
  const ids = knownClients.map(({ id }) => id);
  const near = nearest(word, ids)[0];
  throw usedWrongly(
    `There is no client "${word}".${didYouMean(word, ids)}`,
    near === undefined ? 'clients' : `${command} ${near}`,
  );
}

/** How an entry of `client` gets to the daemon of this data directory. */
export function reachOf(context: Context, id: string): Reach {
  const { self, files, env } = context;
  const usual = resolvePaths({}, { HOME: env.HOME, USERPROFILE: env.USERPROFILE, LOCALAPPDATA: env.LOCALAPPDATA });
  return {
    url: readDaemonFile(files.dataDir).url,
    command: self.execPath,
    script: [...self.execArgv, self.script],
    options: [
      '--client',
      id,
      ...(files.dataDir === usual.dataDir ? [] : ['--data', files.dataDir]),
      ...(files.configFile === usual.configFile ? [] : ['--config', files.configFile]),
    ],
  };
}

/** Facts about servers, of a daemon that tells all of them. */
export async function factsOf(context: Context): Promise<Health> {
  const health = await context.api.health();
  if (!health.ready || health.servers === undefined)
    throw new CommandError('The daemon is still starting; nothing was written.', {
      exit: exitCode.notReachable,
      next: ['status'],
    });
  return health;
}

/** For stderr: one line each, in the order found. */
export const warningText = (warnings: readonly Pick<ClientWarning, 'message'>[]): string =>
  warnings.map(({ message }) => `warning: ${harmless(message)}\n`).join('');

const diffColors = { '+': 'green', '-': 'red', '@': 'cyan' } as const;

/** What a change does to a file, without the lines around it, which are nobody's business here. */
export async function diffText(file: string, before: string | null, after: string | null): Promise<string> {
  if (before === after) return '';
  const { createTwoFilesPatch } = await import('diff');
  const patch = createTwoFilesPatch(file, file, before ?? '', after ?? '', '', '', { context: 0 });
  const lines = patch
    .split('\n')
    .filter((line) => !/^(?:=+|Index: .*)$/.test(line) && !line.startsWith('\\ No newline'));
  return lines.map(hideSecrets).join('\n');
}

export const paintedDiff = (diff: string, paint: Paint): string =>
  diff
    .split('\n')
    .map((line) => {
      const color = diffColors[line.charAt(0) as keyof typeof diffColors];
      return color === undefined ? harmless(line) : paint(color, harmless(line));
    })
    .join('\n');

/** Our own tokens, and what stands behind a name that speaks of a secret. References to variables stay. */
function hideSecrets(line: string): string {
  return line
    .replace(/\bwk_[A-Za-z0-9_-]{16,}/g, '***')
    .replace(
      /(["']?[\w.-]*(?:key|token|secret|passw|pwd|credential|authorization)[\w.-]*["']?\s*[:=]\s*)(["'])(?!Bearer \*\*\*|Bearer \$|\$|\{env:|WATCHKEEPER_TOKEN_)((?:\\.|(?!\2).)*)\2/gi,
      '$1$2***$2',
    );
}

export const asSentence = (text: string): string => {
  const begun = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
};

/** Runs work on clients' files; their own reasons become errors of the command. */
export async function explained<T>(command: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error.name === 'ConnectError') {
      const { kind } = error as Error & { kind?: string };
      const names = [`${command} --name hub`];
      const next =
        kind === 'taken'
          ? [...names, `${command} --replace`]
          : kind === 'shared'
            ? [...names, 'clients']
            : [command, 'clients'];
      throw new CommandError(asSentence(error.message), { next });
    }
    if (['FileError', 'RegistryError', 'FormatError'].includes(error.name))
      throw new CommandError(asSentence(error.message), { next: ['clients'] });
    throw error;
  }
}
