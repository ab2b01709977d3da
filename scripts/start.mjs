#!/usr/bin/env node
/**
 * What `npm start` runs: the daemon with the user's mcp.json, or, where there is none, with the bundled example, so that
 * something can be seen at once. Arguments after `npm start --` go to `watchkeeper up`.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const main = join(root, 'dist/cli/main.js');
const args = process.argv.slice(2);
const { env } = process;

function given(flag) {
  const at = args.findIndex((arg) => arg === flag || arg.startsWith(`${flag}=`));
  if (at < 0) return undefined;
  return args[at].includes('=') ? args[at].slice(flag.length + 1) : args[at + 1];
}

/** A variable that is empty counts as unset, and a relative folder as none. */
const absolute = (folder) => (folder && isAbsolute(folder) ? folder : undefined);

/** Whether `watchkeeper up` would find a file, or was told which one to use (it then says what is wrong with it). */
function usersConfigExists() {
  if (given('--config') || env.WATCHKEEPER_CONFIG) return true;
  const folders = [absolute(env.XDG_CONFIG_HOME), join(homedir(), '.config')].filter(Boolean);
  return folders.some((folder) => existsSync(join(folder, 'agenvoy/mcp.json')));
}

function exampleData() {
  const home = absolute(env.XDG_DATA_HOME) ?? join(homedir(), '.local/share');
  return resolve(given('--data') || env.WATCHKEEPER_DATA || join(home, 'watchkeeper-example'));
}

/** The example works on a copy, so that `add` and `remove` leave the repository as it is. */
function prepareExample(data) {
  const config = join(data, 'mcp.json');
  const files = join(data, 'files');
  mkdirSync(files, { recursive: true, mode: 0o700 });
  if (!existsSync(config)) copyFileSync(join(root, 'examples/mcp.json'), config);
  env.WATCHKEEPER_EXAMPLE_ROOT = root.replace(/[\\/]$/, '');
  env.WATCHKEEPER_EXAMPLE_FILES = files;
  return config;
}

function quoted(text) {
  return /^[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function introduce(data, config) {
  const here = env.INIT_CWD ?? process.cwd();
  const shortest = (path) => {
    const way = relative(here, path);
    return quoted(way.startsWith('..') ? path : way);
  };
  const watchkeeper = (words) => `  node ${shortest(main)} ${words} --data ${quoted(data)}`;
  const calm = `-- node ${quoted(join(root, 'examples/flaky-server.mjs'))} --calm`;
  console.error(
    [
      'You have no mcp.json yet, so this runs the bundled example: everything, memory, filesystem, and a server called',
      `flaky that dies every 20 seconds or so. Its configuration is ${config}, its data are beside it.`,
      '',
      'In another terminal:',
      watchkeeper('status'),
      watchkeeper('tools'),
      watchkeeper('call mcp__flaky__tell_time --mode allow-all'),
      watchkeeper('log --follow'),
      watchkeeper('history flaky'),
      `${watchkeeper('add calm')} ${calm}`,
      '',
    ].join('\n'),
  );
}

function upWithExample() {
  const data = exampleData();
  const config = prepareExample(data);
  introduce(data, config);
  return ['--config', config, '--data', data];
}

const built = spawnSync(process.execPath, [join(root, 'scripts/build.mjs'), '--keep'], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
if (built.status !== 0) process.exit(1);

const more = usersConfigExists() ? [] : upWithExample();
// The command takes over this very process: signals and the exit code are its own.
process.argv = [process.execPath, main, 'up', ...more, ...args];
await import(pathToFileURL(main).href);
