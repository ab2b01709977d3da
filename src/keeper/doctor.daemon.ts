/** Looking at the daemon itself and at where it keeps its log. */
import { statfs } from 'node:fs/promises';
import type { FileProblem } from '../config/entry.ts';
import type { EventLog } from '../events/log.ts';
import type { Check } from '../replay/verdict.ts';
import { checksOf, fine, type Look, wrong } from './checks.ts';

export interface DaemonLook {
  readonly dataDir: string;
  readonly configFile: string;
  /** Why the configuration cannot be parsed; null when it can. */
  readonly problem: FileProblem | null;
  /** Why facts cannot be written; null when they can, undefined when no daemon runs. */
  readonly trouble: unknown | null | undefined;
  readonly log: Pick<EventLog, 'read'> | null;
  /** The clock of this machine, ms since the epoch. */
  readonly now: () => number;
}

const MIB = 1_048_576;
/** The log stops with the disk, and with it everything that must be written down. */
const LEAST_FREE = 100 * MIB;
/** Clocks are set by small steps all the time. */
const STEP_MS = 2_000;

export function daemonChecks(look: DaemonLook): Promise<Check[]> {
  return checksOf([
    { name: 'running', look: async () => runningCheck(look), next: null },
    { name: 'log', look: async () => logCheck(look), next: null },
    { name: 'disk', look: diskLook(look), next: null },
    { name: 'clock', look: async () => clockCheck(look), next: null },
    { name: 'config', look: async () => configCheck(look), next: null },
  ]);
}

const runningCheck = ({ trouble, dataDir }: DaemonLook): Check =>
  trouble === undefined
    ? wrong('running', `no daemon runs for ${dataDir}`, 'watchkeeper up --detach')
    : fine('running', 'the daemon runs');

function logCheck({ trouble, log }: DaemonLook): Check | null {
  if (trouble) {
    const reason = trouble instanceof Error ? trouble.message : String(trouble);
    return wrong('log', `facts cannot be written: ${reason}`, 'Check free space and permissions of the data directory');
  }
  if (log === null) return null;
  return fine('log', trouble === undefined ? 'the log can be read' : 'the log takes facts');
}

const diskLook =
  ({ dataDir }: DaemonLook): Look =>
  async () => {
    const { bavail, bsize } = await statfs(dataDir);
    const free = bavail * bsize;
    const detail = `${Math.floor(free / MIB).toLocaleString('en-US')} MiB free for ${dataDir}`;
    return free < LEAST_FREE ? wrong('disk', detail, 'Make room, or move it with --data') : fine('disk', detail);
  };

/** The log never goes back: while the clock is behind it, facts carry the time of the newest one. */
function clockCheck({ log, now }: DaemonLook): Check | null {
  const [newest] = log?.read({ limit: 1, newestFirst: true }) ?? [];
  if (!newest) return null;
  const ahead = newest.at - now();
  if (ahead <= STEP_MS) return fine('clock', 'the clock agrees with the log');
  return wrong(
    'clock',
    `the clock is ${Math.ceil(ahead / 1000)} s behind the newest fact (${new Date(newest.at).toISOString()}): it was set back`,
    'Set the clock by the network',
  );
}

function configCheck({ problem, configFile }: DaemonLook): Check {
  if (problem === null) return fine('config', `${configFile} can be read`);
  const where = problem.line === null ? '' : ` (line ${problem.line}, column ${problem.column})`;
  return wrong('config', `${configFile} cannot be parsed${where}: ${problem.message}`, 'watchkeeper config check');
}
