/** Two servers from PyPI, in virtual environments under `.cache/venv`. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';

/** Each in an environment of its own, since they are built on different major versions of one library. */
const servers = {
  'mcp-server-time': ['mcp-server-time==2026.10.19', 'mcp==2.3.0'],
  'mcp-server-sqlite': ['mcp-server-sqlite==2025.4.25', 'mcp==1.30.0'],
};

async function install(venv, name) {
  const home = join(venv, 'servers', name);
  await run('python3', ['-m', 'venv', home]);
  const pip = ['-m', 'pip', 'install', '--quiet', ...servers[name]];
  await run(join(home, 'bin/python'), pip, { title: 'pip install' });
  symlinkSync(join('..', 'servers', name, 'bin', name), join(venv, 'bin', name));
}

/** Resolves with null when the servers are there, else with the reason. */
export async function installPythonServers(cache) {
  const venv = join(cache, 'venv');
  const stamp = join(venv, 'installed.json');
  // With the folder, since the environments do not work elsewhere.
  const wanted = JSON.stringify({ venv, servers });
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return null;
  console.error('Installing the Python servers of the tests into .cache/venv …');
  rmSync(venv, { recursive: true, force: true });
  mkdirSync(join(venv, 'bin'), { recursive: true });
  const outcomes = await Promise.allSettled(Object.keys(servers).map((name) => install(venv, name)));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) return failed.reason.message;
  writeFileSync(stamp, wanted);
  return null;
}
