/** Entries that other programs keep in the Secret Service by way of `secret-tool`, which names them by `account`. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The secret, which comes over a pipe; null when there is none. Rejects when the tool is not there or does not answer. */
export async function askSecretTool(service: string, account: string, limitMs: number): Promise<string | null> {
  const question = ['lookup', 'service', service, 'account', account];
  const { stdout } = await promisify(execFile)('secret-tool', question, { timeout: limitMs });
  return stdout.trim() || null;
}
