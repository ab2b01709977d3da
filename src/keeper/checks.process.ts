/** What a command needs: the program, its folder, its script, and a runtime that is new enough. */
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { delimiter, extname, isAbsolute, join, resolve } from 'node:path';
import type { ResolvedEntry, StdioEntry } from '../config/entry.ts';
import { nearest } from '../config/nearest.ts';
import { fine, type Look, wrong } from './checks.ts';

type Process = Extract<ResolvedEntry, { transport: 'stdio' }>;

export interface ProcessLook {
  readonly written: StdioEntry;
  readonly resolved: Process;
  /** Whose PATH it is where the entry sets none. */
  readonly whose: string;
}

const runs = (file: string): Promise<boolean> =>
  access(file, process.platform === 'win32' ? constants.F_OK : constants.X_OK).then(
    async () => (await stat(file)).isFile(),
    () => false,
  );

const pathOf = ({ env }: Process): string[] => {
  const [, path = ''] = Object.entries(env).find(([name]) => name.toUpperCase() === 'PATH') ?? [];
  return path.split(delimiter).filter((folder) => folder !== '');
};

/** Windows finds a program under these endings as well. */
const endings = ({ env }: Process, command: string): string[] =>
  process.platform !== 'win32' || extname(command) !== ''
    ? ['']
    : ['', ...(env.PATHEXT ?? env.Pathext ?? '.COM;.EXE;.BAT;.CMD').split(';')];

/** Where the child would find a program; null when nowhere. */
export async function findProgram(entry: Process, command: string): Promise<string | null> {
  const isPath = /[/\\]/.test(command);
  const folders = isPath ? [resolve(entry.cwd ?? '.')] : pathOf(entry);
  for (const folder of folders) {
    for (const ending of endings(entry, command)) {
      const file = isPath ? resolve(folder, command + ending) : join(folder, command + ending);
      if (await runs(file)) return file;
    }
  }
  return null;
}

async function near(entry: Process, command: string): Promise<string | undefined> {
  const names = await Promise.all(pathOf(entry).map((folder) => readdir(folder).catch(() => [])));
  return nearest(command, [...new Set(names.flat())]);
}

/** Programs people have under another name, or not at all. */
const installs: Readonly<Record<string, string>> = {
  npx: 'install Node.js, which brings npx',
  node: 'install Node.js',
  uvx: 'install uv, which brings uvx',
  uv: 'install uv',
  python: 'install Python, or write python3',
  docker: 'install Docker',
};

export const commandLook =
  ({ written, resolved, whose }: ProcessLook): Look =>
  async () => {
    const { command } = resolved;
    const found = await findProgram(resolved, command);
    if (found !== null) return fine('command', `${written.command} is ${found}`);
    if (/[/\\]/.test(command)) {
      const there = await access(resolve(resolved.cwd ?? '.', command)).then(
        () => true,
        () => false,
      );
      return there
        ? wrong('command', `${written.command} may not be executed`, `chmod +x it, or start it by its interpreter`)
        : wrong('command', `not found: there is no file ${written.command}`, 'Correct the path under "command"');
    }
    const ownPath = Object.keys(written.env).some((name) => name.toUpperCase() === 'PATH');
    const path = ownPath ? 'which the entry sets itself' : `its PATH is ${pathOf(resolved).join(delimiter) || 'empty'}`;
    const like = await near(resolved, command);
    const next = [
      ...(like === undefined ? [] : [`did you mean ${like}?`]),
      ...(installs[command] === undefined ? ['install it'] : [installs[command]]),
      'or write its full path under "command"',
    ].join(', ');
    const detail = `not found: command ${written.command} is not on the PATH of ${ownPath ? 'the server' : whose}; ${path}`;
    return wrong('command', detail, next);
  };

export const folderLook =
  ({ written, resolved }: ProcessLook): Look =>
  async () => {
    if (resolved.cwd === undefined) return null;
    const found = await stat(resolved.cwd).catch(() => null);
    const next = 'Correct "cwd", or make the folder';
    if (found === null) return wrong('cwd', `the folder ${written.cwd} does not exist`, next);
    if (!found.isDirectory()) return wrong('cwd', `${written.cwd} is not a folder`, next);
    return fine('cwd', `the folder ${written.cwd} exists`);
  };

const programOf = (command: string): string =>
  (command.split(/[/\\]/).at(-1) ?? '').toLowerCase().replace(/\.(?:cmd|exe|bat)$/, '');

const interpreters = /^(?:node|tsx|ts-node|bun|deno|python[\d.]*|ruby|perl|php|sh|bash|zsh)$/;
const scripts = /\.(?:[cm]?[jt]sx?|py|rb|pl|php|sh|jar)$/i;
/** Options of interpreters that take the next word for themselves. */
const takesWord = new Set(['-r', '--require', '--import', '--loader', '-W', '-X', '--env-file', '-C', '--conditions']);
/** What follows is no file: code, or the name of a module. */
const noScript = new Set(['-e', '--eval', '-p', '--print', '-c', '-m', '-', '--']);

/** Index of the argument that is a file to run; -1 when there is none that can be told. */
export function scriptIndex(command: string, args: readonly string[]): number {
  if (!interpreters.test(programOf(command))) return args.findIndex((arg) => isAbsolute(arg) && scripts.test(arg));
  for (let n = 0; n < args.length; n += 1) {
    const arg = args[n] ?? '';
    if (noScript.has(arg)) return -1;
    if (takesWord.has(arg)) n += 1;
    else if (arg !== 'run' && !arg.startsWith('-')) return scripts.test(arg) || /[/\\]/.test(arg) ? n : -1;
  }
  return -1;
}

export const scriptLook =
  ({ written, resolved }: ProcessLook): Look =>
  async () => {
    const index = scriptIndex(resolved.command, resolved.args);
    const script = resolved.args[index];
    if (script === undefined) return null;
    const shown = written.args[index] ?? script;
    const found = await stat(resolve(resolved.cwd ?? '.', script)).catch(() => null);
    if (found !== null) return fine('script', `${shown} exists`);
    const where = isAbsolute(script) ? '' : `, seen from ${written.cwd ?? "the daemon's folder"}`;
    return wrong('script', `the file ${shown} does not exist${where}`, 'Correct the path in "args", or set "cwd"');
  };

interface Runtime {
  readonly program: string;
  /** What today's servers need at least: major and minor. */
  readonly least: readonly [number, number];
}

/** By the command: what has to be there, and how new. The SDKs of servers ask for Node 18 and Python 3.10. */
export function runtimeOf(command: string): Runtime | null {
  const program = programOf(command);
  if (program === 'node') return { program: command, least: [18, 0] };
  if (['npx', 'npm', 'pnpm', 'yarn', 'tsx', 'ts-node'].includes(program)) return { program: 'node', least: [18, 0] };
  if (/^python[\d.]*$/.test(program)) return { program: command, least: [3, 10] };
  if (program === 'pipx') return { program: 'python3', least: [3, 10] };
  if (program === 'uv') return { program: command, least: [0, 1] };
  return program === 'uvx' ? { program: 'uv', least: [0, 1] } : null;
}

export const runtimeLook =
  ({ resolved }: ProcessLook): Look =>
  async (signal) => {
    const runtime = runtimeOf(resolved.command);
    if (runtime === null) return null;
    const { program, least } = runtime;
    const file = await findProgram(resolved, program);
    // Its own absence is what the check of the command says.
    if (file === null)
      return program === resolved.command
        ? null
        : wrong('runtime', `${program} is not on its PATH`, `Install ${program}`);
    // A script of the shell would need one; there the version stays unknown.
    if (process.platform === 'win32' && extname(file).toLowerCase() !== '.exe') return null;
    const said = await versionOf(file, pathOf(resolved).join(delimiter), signal);
    const [, major, minor] = /(\d+)\.(\d+)/.exec(said) ?? [];
    if (major === undefined)
      return wrong('runtime', `${file} --version does not tell a version`, `Start it by hand: ${file} --version`);
    const enough = Number(major) > least[0] || (Number(major) === least[0] && Number(minor) >= least[1]);
    const version = `${programOf(program)} ${major}.${minor}`;
    if (enough) return fine('runtime', `${version}, ${file}`);
    return wrong(
      'runtime',
      `${version} is too old: most servers need ${least.join('.')} or newer (${file})`,
      'Install a newer one, or write its full path under "command"',
    );
  };

/** Asked with nothing but a PATH in its environment. */
function versionOf(file: string, path: string, signal: AbortSignal): Promise<string> {
  return new Promise((settle, reject) => {
    execFile(
      file,
      ['--version'],
      { signal, env: { PATH: path }, windowsHide: true, maxBuffer: 65_536, killSignal: 'SIGKILL' },
      (error, stdout, stderr) => (error ? reject(error) : settle(`${stdout}${stderr}`)),
    ).stdin?.end();
  });
}

/** Everything about a process, in order. */
export const processLooks = (look: ProcessLook): { name: string; look: Look; next: string | null }[] => [
  { name: 'command', look: commandLook(look), next: null },
  { name: 'cwd', look: folderLook(look), next: null },
  { name: 'script', look: scriptLook(look), next: null },
  { name: 'runtime', look: runtimeLook(look), next: `Start it by hand: ${look.written.command} --version` },
];
