/** This machine, as the pure files here want it. */
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { homeFolder } from '../config/home.ts';
import { knownClients } from './known.ts';
import type { Machine } from './places.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export const thisMachine = (env: Environment): Machine => ({
  platform: process.platform,
  home: homeFolder(env),
  env,
  exists: existsSync,
});

/** Which of the clients' commands can be found on the path. */
export function commandsFound(env: Environment): ReadonlySet<string> {
  const wanted = new Set(knownClients.flatMap(({ signs }) => signs.commands));
  return new Set([...wanted].filter((command) => findCommand(command, env) !== null));
}

/** The file a command stands for; null when there is none that may be run. */
export function findCommand(command: string, env: Environment): string | null {
  const isPath = /[/\\]/.test(command);
  const folders = isPath ? [''] : (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const endings = process.platform === 'win32' ? ['', ...(env.PATHEXT ?? '.EXE;.CMD;.BAT').split(';')] : [''];
  for (const folder of folders) {
    for (const ending of endings) {
      const file = folder === '' ? command + ending : join(folder, command + ending);
      if (isRunnable(file)) return file;
    }
  }
  return null;
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, process.platform === 'win32' ? constants.F_OK : constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
