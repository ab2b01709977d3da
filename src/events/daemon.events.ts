import { z } from 'zod';
import { type FactOf, fact } from './define.ts';

const run = z.string().describe('Id of this run of the daemon.');
const server = z.string().describe('Name of the server.');
const names = z.array(z.string());

export const daemonFacts = {
  DaemonStarted: fact({
    stream: 'daemon',
    schema: 1,
    about: 'The daemon started.',
    data: z.object({
      run,
      version: z.string().describe('Version of watchkeeper.'),
      pid: z.number().int(),
      lastAlive: z
        .number()
        .nullable()
        .describe('When the daemon before it was last known alive (ms since the epoch); null: there was none.'),
    }),
  }),
  DaemonStopped: fact({
    stream: 'daemon',
    schema: 1,
    about: 'The daemon stopped in good order.',
    data: z.object({ run }),
  }),
  RecordingStarted: fact({
    stream: 'daemon',
    schema: 1,
    about: 'What goes between the daemon and a server is recorded from now on, over restarts too.',
    data: z.object({ server }),
  }),
  RecordingStopped: fact({
    stream: 'daemon',
    schema: 1,
    about: 'The recording of a server ended.',
    data: z.object({
      server,
      reason: z
        .enum(['asked', 'server-removed', 'write-failed'])
        .describe('`write-failed`: the recording could not be written.'),
      detail: z.string().nullable().describe('What went wrong, in words; null when nothing did.'),
    }),
  }),
};

export const configFacts = {
  ConfigChanged: fact({
    stream: 'config',
    schema: 1,
    about: 'The configuration file was read and differs from what ran.',
    data: z.object({
      added: names.describe('Servers that are new.'),
      changed: names.describe('Servers whose entry is another one now.'),
      removed: names.describe('Servers that are gone.'),
      warnings: z.array(z.string()).describe('What is odd about the file, in words.'),
    }),
  }),
  ConfigRejected: fact({
    stream: 'config',
    schema: 1,
    about: 'The configuration file could not be read; the running set stays.',
    data: z.object({
      message: z.string().describe('What is wrong, for a person.'),
      line: z.number().int().nullable().describe('Counts from 1; null where it is not known.'),
      column: z.number().int().nullable().describe('Counts from 1; null where it is not known.'),
    }),
  }),
};

export type DaemonFact = FactOf<typeof daemonFacts>;
export type ConfigFact = FactOf<typeof configFacts>;
