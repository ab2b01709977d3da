'use strict';
/**
 * `node record.cjs <entry> <out> <arguments…>` runs the built program and, when it ends, writes what V8 compiled of each
 * of its files to `<out>/<n>.bin`, named in `<out>/index.json`.
 */
const { mkdirSync, writeFileSync } = require('node:fs');
const { join, sep } = require('node:path');
const { compileUnder } = require('./load.cjs');

const [entry, out, ...args] = process.argv.slice(2);
const dist = join(__dirname, '../../dist');
const scripts = new Map();

compileUnder(
  `${dist}${sep}`,
  () => undefined,
  (name, script, source) => {
    // What is compiled from the cache cannot import: V8 does not keep who would have to answer.
    if (!/\bimport\(/.test(source)) scripts.set(name, script);
  },
);

process.on('exit', () => {
  mkdirSync(out, { recursive: true });
  const names = [...scripts.keys()];
  for (const [at, name] of names.entries()) writeFileSync(join(out, `${at}.bin`), scripts.get(name).createCachedData());
  writeFileSync(join(out, 'index.json'), JSON.stringify(names));
});

process.argv = [process.execPath, join(dist, 'cli/main.js'), ...args];
require(join(dist, entry));
