/** What `GET /v1/mcp/stderr` answers. */
import { z } from 'zod';

export const stderr = z.object({
  server: z.string(),
  pid: z.number().int().nullable().describe('Of the process that runs; null when none does.'),
  text: z
    .string()
    .nullable()
    .describe('The last 4 KiB it wrote, secrets masked. Null without a process: `why` has the last words of one.'),
});
