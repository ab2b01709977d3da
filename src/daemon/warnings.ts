/** One line in the daemon's log for each failure of a server: server, phase, class. */
import type { Logger } from 'pino';
import { type Recorded, serverOf } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import type { Failure } from '../events/shapes.ts';

const FAILURES = new Set<Recorded['type']>([
  'ConnectFailed',
  'ServerFailed',
  'LoginRequired',
  'SessionLost',
  'ListFailed',
]);

export function warnOfFailures(log: EventLog, logger: Logger): void {
  log.committed$.subscribe((facts) => {
    for (const { type, stream, data } of facts) {
      const server = serverOf(stream);
      if (FAILURES.has(type) && 'failure' in data) {
        const { phase, class: kind, message } = data.failure as Failure;
        logger.warn({ server, phase, class: kind }, message);
      } else if (type === 'ToolsListed' && 'warnings' in data && data.warnings) {
        for (const warning of data.warnings) logger.warn({ server, phase: 'list' }, warning);
      }
    }
  });
}
