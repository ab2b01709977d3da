/** What deserves a line in the daemon's log although nobody asked. */
import type { Logger } from 'pino';
import { type Recorded, serverOf } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import type { Failure } from '../events/shapes.ts';
import type { Keeper } from '../http/keeper.ts';
import type { Directory } from '../keeper/directory.ts';

const FAILURES = new Set<Recorded['type']>([
  'ConnectFailed',
  'ServerFailed',
  'LoginRequired',
  'SessionLost',
  'ListFailed',
]);

/** One line for each failure of a server: server, phase, class. */
export function warnOfFailures(log: EventLog, logger: Logger): void {
  log.committed$.subscribe((facts) => {
    for (const { type, stream, data } of facts) {
      if (FAILURES.has(type) && 'failure' in data) {
        const { phase, class: kind, message } = data.failure as Failure;
        logger.warn({ server: serverOf(stream), phase, class: kind }, message);
      } else if (type === 'ToolsListed' && 'warnings' in data && data.warnings) {
        for (const warning of data.warnings) logger.warn({ server: serverOf(stream), phase: 'list' }, warning);
      }
    }
  });
}

/** How long lists of tools may go on changing before clients are looked at, in ms. */
const CLIENTS_MS = 1_000;

/** Says it when a list of tools has become too much for a connected client, once for each thing there is to say. */
export function warnOfClients(
  directory: Pick<Directory, 'onChanged'>,
  keeper: Pick<Keeper, 'clients'>,
  logger: Pick<Logger, 'warn'>,
): void {
  let said = new Set<string>();
  let isWaiting = false;
  const look = (): void => {
    isWaiting = false;
    const messages = keeper.clients().clients.flatMap(({ warnings }) => warnings.map(({ message }) => message));
    for (const message of messages) if (!said.has(message)) logger.warn(message);
    said = new Set(messages);
  };
  directory.onChanged(() => {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(look, CLIENTS_MS).unref();
  });
}
