#!/usr/bin/env node
'use strict';
/** What is started: the program (`__ENTRY__`, put in by the build) by way of the code cache beside it. */
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { join, sep } = require('node:path');
const { compileUnder } = require('../load.js');

const dist = join(__dirname, '..');

/** A line of JSON (for which V8, and where each file's part begins and ends), then the parts. */
function kept() {
  try {
    const file = readFileSync(join(dist, 'code.cache'));
    const end = file.indexOf('\n');
    const { v8, parts } = JSON.parse(file.toString('utf8', 0, end));
    if (v8 !== process.versions.v8) return null;
    return (name) => {
      const part = parts[name];
      return part === undefined ? undefined : file.subarray(end + 1 + part[0], end + 1 + part[1]);
    };
  } catch {
    return null;
  }
}

const cached = kept();
if (cached !== null) compileUnder(`${dist}${sep}`, cached);
// Built by another Node: newer ones keep a cache of their own.
else Module.enableCompileCache?.();

require('../__ENTRY__');
