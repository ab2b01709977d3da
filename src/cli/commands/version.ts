import { readDaemonFile } from '../../api/endpoint.ts';
import type { Command } from '../command.ts';
import { isAlive } from '../process.identity.ts';

/** The version of the daemon that runs for this data directory; null when none does. */
function running(dataDir: string): { readonly version: string; readonly pid: number } | null {
  try {
    const { version, pid } = readDaemonFile(dataDir);
    return isAlive(pid) ? { version, pid } : null;
  } catch {
    return null;
  }
}

export const version: Command = {
  description: {
    name: 'version',
    group: 'Daemon',
    summary: 'print the version of the program and of the daemon',
    examples: [{ line: 'version --json', about: '{"version": …, "daemon": {"version": …, "pid": …} or null}' }],
  },
  async run({ version: own, files }) {
    const daemon = running(files.dataDir);
    return {
      kind: 'answer',
      json: { version: own, daemon },
      text: () => `watchkeeper ${own}\n${daemon ? `daemon ${daemon.version} (pid ${daemon.pid})\n` : ''}`,
      notes:
        daemon && daemon.version !== own
          ? ['The daemon has another version; to renew it: watchkeeper down && watchkeeper up --detach']
          : [],
    };
  },
};
