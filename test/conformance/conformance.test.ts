import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../support/paths.ts';

const suite = join(projectRoot, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

describe.skipIf(!existsSync(suite))('the official conformance suite', () => {
  it.each([
    ['http dual', 2],
    ['stdio dual', 2],
    ['http legacy', 1],
    ['stdio legacy', 1],
    ['client', 2],
    ['oauth', 2],
  ])(
    'passes with the hub in between: %s',
    async (upstream, runs) => {
      const script = join(projectRoot, 'scripts/conformance.mjs');
      const { stdout } = await promisify(execFile)(process.execPath, [script, '--upstream', upstream]);
      const totals = [...stdout.matchAll(/: (\d+) of (\d+)$/gm)];
      expect(totals).toHaveLength(runs);
      for (const [, passed, required] of totals) expect(passed).toBe(required);
    },
    240_000,
  );
});
