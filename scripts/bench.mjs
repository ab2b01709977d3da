#!/usr/bin/env node
/** Runs benchmarks: all of them, or those named (`npm run bench -- log`). Bundles each first, since Node 20 takes no TypeScript. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const all = readdirSync(join(root, 'bench'))
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.replace('.bench.ts', ''));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`No benchmark ${unknown.join(', ')}. There are: ${all.join(', ')}.`);
  process.exit(2);
}

await build();
const { rolldown } = await import('rolldown');
for (const name of wanted.length > 0 ? wanted : all) {
  const bundle = await rolldown({
    input: join(root, 'bench', `${name}.bench.ts`),
    platform: 'node',
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
    logLevel: 'warn',
  });
  const file = join(root, '.cache/bench', `${name}.mjs`);
  await bundle.write({ file, format: 'esm', codeSplitting: false });
  await bundle.close();
  console.log(`\n${name}`);
  const { status } = spawnSync(process.execPath, [file], { stdio: 'inherit', cwd: root });
  if (status !== 0) process.exitCode = 1;
}
