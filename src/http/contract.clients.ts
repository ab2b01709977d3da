/** What `GET /v1/clients` answers: never a token, nor its hash. */
import { z } from 'zod';
import { permissionMode } from '../events/call.events.ts';
import { interval } from './contract.ts';

const time = interval.shape.from;

export const clientWarning = z.looseObject({
  kind: z.enum(['identifier-too-long', 'identifier-characters', 'flat-namespace', 'too-many-tools']),
  client: z.string().describe('Its name for people.'),
  message: z.string(),
});

export const clients = z.object({
  clients: z.array(
    z.object({
      client: z.string(),
      name: z.string().describe('For people.'),
      file: z.string().describe('The file its entries stand in.'),
      connect_mode: z.enum(['per-server', 'routed', 'stdio']),
      entries: z.array(z.string()),
      mode: permissionMode.describe('Permission mode of its calls unless they ask for less.'),
      ceiling: permissionMode.describe('The most its calls may ask for.'),
      servers: z.array(z.string()).nullable().describe('Servers it may see; null: all.'),
      callsPerMinute: z.number().int().positive().nullable().describe('null: as many as it likes.'),
      asksInClient: z.boolean().describe('Held calls are put to the person in the client itself.'),
      token: z.enum(['variable', 'file', 'none']).describe('Where its token stands; none: it starts a command.'),
      createdAt: time,
      lastUsedAt: time.nullable(),
      warnings: z.array(clientWarning).describe('About the lists of tools as they are now.'),
    }),
  ),
});
