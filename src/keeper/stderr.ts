/** What a running process says on stderr, as it is answered. */
import type { z } from 'zod';
import type { stderr } from '../http/contract.stderr.ts';

/** `transport`: null when the entry cannot be used. `running`: null when no process is; its text is masked already. */
export function stderrAnswer(
  name: string,
  transport: string | null,
  running: { readonly pid: number; readonly stderr: string } | null,
): z.infer<typeof stderr> {
  if (running !== null) return { name, pid: running.pid, text: running.stderr, missing: null };
  const missing = transport === null || transport === 'stdio' ? 'not-running' : 'no-process';
  return { name, pid: null, text: '', missing };
}
