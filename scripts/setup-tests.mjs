#!/usr/bin/env node
/**
 * What the tests need and the package does not: the bundle, servers from PyPI, programs from Debian. What cannot be had
 * is said aloud and written to `.cache/setup.json` (purpose: null, or the reason), where tests read why they are skipped.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installDebianPackages } from './setup/debian.mjs';
import { installPythonServers } from './setup/python.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, '.cache');

const built = spawnSync(process.execPath, [join(root, 'scripts/build.mjs'), '--keep'], { stdio: 'inherit' });
if (built.status !== 0) process.exit(1);

const [python, debian] = await Promise.all([installPythonServers(cache), installDebianPackages()]);
const outcome = { python, ...debian };
writeFileSync(join(cache, 'setup.json'), `${JSON.stringify(outcome, null, 2)}\n`);
for (const [purpose, reason] of Object.entries(outcome)) {
  if (reason !== null) console.error(`Tests with ${purpose} will be skipped: ${reason}`);
}
