/** What `GET /v1/mcp/stderr` answers. */
import { z } from 'zod';

export const stderr = z.object({
  name: z.string().min(1),
  pid: z.number().int().positive().nullable().describe('The process that runs now; null when none does.'),
  text: z
    .string()
    .describe('The end of what it has written to stderr since it was started: at most 4 KiB, secrets masked.'),
  missing: z
    .enum(['not-running', 'no-process'])
    .nullable()
    .describe(
      'Why there is no text to show: `not-running`: no process runs now, what earlier ones wrote last stands in `why`; `no-process`: the server is reached over HTTP, or is part of the daemon. null while a process runs.',
    ),
});
