/** Files that count while the daemon runs: configuration, grants, variables, token. */
import type { Logger } from 'pino';
import type { Paths } from '../config/paths.ts';
import { readVariables } from '../config/variables.ts';
import { watchFile } from '../config/watch.ts';
import type { Parts } from './parts.ts';

export interface Watched extends Pick<Parts, 'configuration' | 'allowlist' | 'supervisor'> {
  readonly paths: Paths;
  readonly logger: Logger;
  readonly token: { current: string };
}

/** Returns the end of all watches. */
export function watchFiles({ configuration, allowlist, supervisor, paths, logger, token }: Watched): () => void {
  configuration.watch();
  allowlist.watch();
  const warnOfVariables = async (): Promise<void> => {
    try {
      for (const warning of (await readVariables(paths.variablesFile)).warnings) logger.warn(warning);
    } catch (error) {
      logger.warn(String(error));
    }
  };
  const variables = watchFile(paths.variablesFile, { settleMs: 150 }).subscribe(() => {
    void warnOfVariables();
    // Entries that failed for want of a variable may work now.
    void supervisor.retryConfigErrors();
  });
  const known = { kind: 'text' as const, text: `${token.current}\n` };
  const tokens = watchFile(paths.tokenFile, { known, settleMs: 20 }).subscribe((content) => {
    if (content.kind === 'text' && content.text.trim() !== '') token.current = content.text.trim();
  });
  return () => {
    configuration.unwatch();
    allowlist.unwatch();
    variables.unsubscribe();
    tokens.unsubscribe();
  };
}
