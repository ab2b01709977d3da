import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Resolves with stdout; rejects with a reason fit for a person, `title` being what failed. */
export async function run(command, args, { title = command, env = process.env } = {}) {
  try {
    return (await promisify(execFile)(command, args, { env, maxBuffer: 64 * 1024 * 1024 })).stdout;
  } catch (error) {
    if (error.code === 'ENOENT') throw new Error(`there is no ${command} on this machine`);
    const lines = `${error.stderr || error.message}`.trim().split('\n');
    throw new Error(`${title} failed: ${lines.at(-1)}`);
  }
}
