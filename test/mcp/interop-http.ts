/** Starts an HTTP server that prints its URL. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { atEnd } from '../support/cleanup.ts';
import { childEnv } from './opening.ts';

export async function rawServer(script: string, args: readonly string[] = []): Promise<string> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'], env: childEnv });
  atEnd(() => {
    child.kill('SIGKILL');
  });
  const [line] = await once(child.stdout, 'data');
  return String(line).trim();
}
