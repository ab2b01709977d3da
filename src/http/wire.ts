import type { z } from 'zod';
import type { Recorded } from '../events/envelope.ts';
import type { event } from './contract.ts';

/** A fact of the log as it is sent over HTTP: `at` in ISO 8601, the rest as recorded. */
export function wireEvent(recorded: Recorded): z.infer<typeof event> {
  const { position, stream, version, type, schema, at, cause, data } = recorded;
  return { position, stream, version, type, schema, at: new Date(at).toISOString(), cause, data: { ...data } };
}
