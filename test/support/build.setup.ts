import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from './paths.ts';

const run = promisify(execFile);

/**
 * Builds once before the run. A build that fails does not keep the tests of pure code from running; every test that
 * starts the daemon then fails and says so.
 */
export default async function build(): Promise<void> {
  try {
    await run(process.execPath, [join(projectRoot, 'scripts/build.mjs'), '--keep']);
  } catch (error) {
    process.stderr.write(
      `The build failed; tests that start the daemon will fail.\n${(error as { stderr?: string }).stderr ?? error}\n`,
    );
  }
}
