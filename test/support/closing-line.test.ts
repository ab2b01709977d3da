import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from './paths.ts';
import { tempDir } from './temp.ts';

const reporter = join(projectRoot, 'test/support/closing-line.reporter.ts');
const vitest = join(projectRoot, 'node_modules/vitest/vitest.mjs');

/** A run of its own over one test file; resolves with the exit code and the lines printed. */
function run(tests: string): Promise<{ code: number; lines: string[] }> {
  const dir = tempDir();
  const config = { test: { globals: true, reporters: ['default', reporter] } };
  writeFileSync(join(dir, 'vitest.config.mjs'), `export default ${JSON.stringify(config)};`);
  writeFileSync(join(dir, 'a.test.mjs'), tests);
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [vitest, 'run', '--root', dir],
      { env: { ...process.env, NO_COLOR: '1' } },
      (error, stdout) => {
        resolve({ code: error === null ? 0 : Number(error.code), lines: stdout.trimEnd().split('\n') });
      },
    );
  });
}

describe('the last line of a test run', () => {
  it('counts what passed, failed and was skipped, and every skipped test is named with its reason', async () => {
    const { code, lines } = await run(`
      it('adds', () => {});
      it('breaks', () => { throw new Error('no'); });
      describe('far away', () => { it('waits', (context) => context.skip('there is no moon')); });
      it.skip('sleeps', () => {});
    `);
    expect(code).toBe(1);
    expect(lines.at(-1)).toBe('1 passed, 1 failed, 2 skipped');
    expect(lines).toContain('skipped: a.test.mjs > far away > waits: there is no moon');
    expect(lines).toContain('skipped: a.test.mjs > sleeps: no reason given');
  });

  it('says nothing of skipped tests when there are none', async () => {
    const { code, lines } = await run(`it('adds', () => {});`);
    expect([code, lines.at(-1)]).toEqual([0, '1 passed, 0 failed']);
  });

  it.each([
    ['a file that cannot be loaded', `throw new Error('broken');`, '0 passed, 1 failed'],
    [
      'an error outside of tests',
      `it('adds', () => { setTimeout(() => { throw new Error('late'); }); return new Promise((done) => setTimeout(done, 50)); });`,
      '1 passed, 1 failed',
    ],
  ])('counts %s as a failure', async (_title, tests, line) => {
    const { code, lines } = await run(tests);
    expect([code, lines.at(-1)]).toEqual([1, line]);
  });
});
