#!/usr/bin/env node
/**
 * What `npm run dev` runs: the daemon, rebuilt and restarted whenever a file under `src` or `migrations` changes. Arguments
 * after `npm run dev --` go to `watchkeeper up`. A build that fails leaves the running daemon as it is.
 */
import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';

/** Quiet time after the last change, in ms: an editor saves several files at once. */
const SETTLE_MS = 200;

const root = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
const say = (text) => console.error(`dev: ${text}`);

let daemon = null;
let ending = false;

/** Resolves with the exit code once the daemon has ended; at once when none runs. */
function ended() {
  if (daemon === null) return Promise.resolve(0);
  return new Promise((resolve) => daemon.once('exit', (code, signal) => resolve(code ?? (signal ? 1 : 0))));
}

function start() {
  const started = spawn(process.execPath, [join(root, 'scripts/start.mjs'), ...args], { stdio: 'inherit' });
  daemon = started;
  started.once('exit', (code) => {
    if (daemon === started) daemon = null;
    // Ended by nobody here: a port that is taken, say. The next change may mend it.
    if (!ending && !restarting) say(`the daemon ended with exit code ${code}; waiting for a change`);
  });
}

let restarting = false;
let changed = false;

async function rebuildAndRestart() {
  // One at a time; what changes meanwhile leads to one more.
  changed = true;
  if (restarting) return;
  restarting = true;
  while (changed && !ending) {
    changed = false;
    try {
      await build({ keep: true, cache: false });
    } catch (error) {
      say(`the build failed, so the daemon stays as it is\n${error.message}`);
      continue;
    }
    if (changed || ending) continue;
    const gone = ended();
    daemon?.kill('SIGTERM');
    await gone;
    if (!ending) start();
  }
  restarting = false;
}

async function end(signal) {
  const again = ending;
  ending = true;
  if (again) return;
  const gone = ended();
  daemon?.kill(signal);
  process.exit(await gone);
}

let timer;
for (const folder of ['src', 'migrations']) {
  watch(join(root, folder), { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(rebuildAndRestart, SETTLE_MS);
  });
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end(signal));

await build({ keep: true, cache: false }).catch((error) =>
  say(`the build failed; waiting for a change\n${error.message}`),
);
if (!ending) start();
