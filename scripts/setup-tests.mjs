#!/usr/bin/env node
/**
 * What the tests need and the package does not: the bundle, and two servers from PyPI in virtual environments. What
 * cannot be had is said aloud and written to `.cache/setup.json`, where tests read why they are skipped.
 */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installTmux } from './setup-tmux.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, '.cache');
const venv = join(cache, 'venv');
const stamp = join(venv, 'installed.json');

/** Each in an environment of its own, since they are built on different major versions of one library. */
const servers = {
  'mcp-server-time': ['mcp-server-time==2026.10.19', 'mcp==2.3.0'],
  'mcp-server-sqlite': ['mcp-server-sqlite==2025.4.25', 'mcp==1.30.0'],
};
/** With the folder, since the environments do not work elsewhere. */
const wanted = JSON.stringify({ venv, servers });

/** Rejects with a reason fit for a person. */
async function run(command, args) {
  try {
    await promisify(execFile)(command, args);
  } catch (error) {
    if (error.code === 'ENOENT') throw new Error(`there is no ${command} on this machine`);
    const lines = `${error.stderr ?? error.message}`.trim().split('\n');
    throw new Error(`${args.includes('pip') ? 'pip install' : command} failed: ${lines.at(-1)}`);
  }
}

async function install(name) {
  const home = join(venv, 'servers', name);
  await run('python3', ['-m', 'venv', home]);
  await run(join(home, 'bin/python'), ['-m', 'pip', 'install', '--quiet', ...servers[name]]);
  symlinkSync(join('..', 'servers', name, 'bin', name), join(venv, 'bin', name));
}

function isInstalled() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
}

/** Resolves with null when the servers are there, else with the reason. */
async function installPythonServers() {
  if (isInstalled()) return null;
  console.error('Installing the Python servers of the tests into .cache/venv …');
  rmSync(venv, { recursive: true, force: true });
  mkdirSync(join(venv, 'bin'), { recursive: true });
  const outcomes = await Promise.allSettled(Object.keys(servers).map(install));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) return failed.reason.message;
  writeFileSync(stamp, wanted);
  return null;
}

const built = spawnSync(process.execPath, [join(root, 'scripts/build.mjs'), '--keep'], { stdio: 'inherit' });
if (built.status !== 0) process.exit(1);

const reason = await installPythonServers();
const noTmux = installTmux();
writeFileSync(join(cache, 'setup.json'), `${JSON.stringify({ python: reason === null, reason, noTmux })}\n`);
if (reason !== null) console.error(`Tests with the Python servers (time, sqlite) will be skipped: ${reason}`);
if (noTmux !== null) console.error(`Tests of the terminal view will be skipped: ${noTmux}`);
