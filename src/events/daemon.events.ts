import { z } from 'zod';
import { type FactOf, fact } from './define.ts';

export const daemonFacts = {
  DaemonStarted: fact({
    stream: 'daemon',
    schema: 1,
    about: 'The daemon started. `lastAlive` is when the one before it was last known alive (ms since the epoch).',
    data: z.object({ run: z.string(), version: z.string(), pid: z.number().int(), lastAlive: z.number().nullable() }),
  }),
  DaemonStopped: fact({
    stream: 'daemon',
    schema: 1,
    about: 'The daemon stopped in good order.',
    data: z.object({ run: z.string() }),
  }),
};

export const configFacts = {
  ConfigChanged: fact({
    stream: 'config',
    schema: 1,
    about: 'The configuration file was read and differs from what ran.',
    data: z.object({
      added: z.array(z.string()),
      changed: z.array(z.string()),
      removed: z.array(z.string()),
      warnings: z.array(z.string()),
    }),
  }),
  ConfigRejected: fact({
    stream: 'config',
    schema: 1,
    about: 'The configuration file could not be read; the running set stays.',
    data: z.object({ message: z.string(), line: z.number().int().nullable(), column: z.number().int().nullable() }),
  }),
};

export type DaemonFact = FactOf<typeof daemonFacts>;
export type ConfigFact = FactOf<typeof configFacts>;
