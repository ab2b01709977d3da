import { mkdirSync, readFileSync } from 'node:fs';
import { readDaemonFile } from '../../api/endpoint.ts';
import { writeNewToken } from '../../daemon/token.ts';
import type { Command } from '../command.ts';
import { CommandError } from '../failure.ts';
import { flag } from '../options.ts';
import { isAlive } from '../process.identity.ts';

function stored(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim() || null;
  } catch {
    return null;
  }
}

/** Whether the running daemon takes the token; null when none runs. */
async function isTaken(dataDir: string, token: string): Promise<boolean | null> {
  try {
    const { url, pid } = readDaemonFile(dataDir);
    if (!isAlive(pid)) return null;
    const answer = await fetch(`${url}/v1/mcp/status`, { headers: { authorization: `Bearer ${token}` } });
    return answer.status !== 401;
  } catch {
    return null;
  }
}

export const token: Command = {
  description: {
    name: 'token',
    group: 'Daemon',
    summary: 'print the token that HTTP requests need',
    options: [{ flags: '--rotate', about: 'write a new one first; the old one ends' }],
    examples: [
      { line: 'token', about: 'for use as: curl -H "Authorization: Bearer $(watchkeeper token)" …' },
      { line: 'token --rotate', about: 'when the old one may have been seen by others' },
    ],
  },
  async run({ files }, _words, options) {
    if (!flag(options, 'rotate')) {
      const found = stored(files.tokenFile);
      if (found === null)
        throw new CommandError(`There is no token yet in ${files.dataDir}; the daemon writes one when it starts.`, {
          next: ['up --detach'],
        });
      return { kind: 'answer', json: { token: found }, text: () => `${found}\n` };
    }
    mkdirSync(files.dataDir, { recursive: true, mode: 0o700 });
    const renewed = writeNewToken(files.tokenFile);
    const taken = await isTaken(files.dataDir, renewed);
    return {
      kind: 'answer',
      json: { token: renewed, restartNeeded: taken === false },
      text: () => `${renewed}\n`,
      ...(taken === false
        ? {
            warning:
              'The running daemon still uses the old token until it is restarted:\n  watchkeeper down && watchkeeper up --detach\n',
          }
        : {}),
    };
  },
};
