/** Where the file of a client is, on this machine. Pure: the machine comes in. */
import { posix, win32 } from 'node:path';
import type { ClientDescriptor, Place, System } from './descriptor.ts';

export interface Machine {
  readonly platform: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly exists: (file: string) => boolean;
}

/** Systems that are none of the three keep their files as Linux does. */
const systemOf = (platform: string): System => (platform === 'darwin' || platform === 'win32' ? platform : 'linux');

/** A path with `{home}` and the like filled in, in the spelling of the system. */
export function filledPath(path: string, { platform, home, env }: Machine, value = ''): string {
  const windows = platform === 'win32';
  const { join, normalize, isAbsolute } = windows ? win32 : posix;
  const own = windows ? env.USERPROFILE || home : home;
  const xdg = env.XDG_CONFIG_HOME;
  const parts: Readonly<Record<string, string>> = {
    home: own,
    config: !windows && xdg && isAbsolute(xdg) ? xdg : join(own, '.config'),
    appdata: env.APPDATA || join(own, 'AppData', 'Roaming'),
    localappdata: env.LOCALAPPDATA || join(own, 'AppData', 'Local'),
    value: value.replace(/^~(?=$|[/\\])/, own),
  };
  return normalize(path.replace(/\{(\w+)\}/g, (whole, name: string) => parts[name] ?? whole));
}

/** The file that counts, whether it exists or not. */
export function configFileOf(client: ClientDescriptor, machine: Machine): string {
  for (const { variable, file } of client.movedBy) {
    const value = machine.env[variable];
    if (value) return filledPath(file, machine, value);
  }
  const { file, before = [], after = [] }: Place = client.places[systemOf(machine.platform)];
  const [first, ...rest] = [...before, file, ...after].map((path) => filledPath(path, machine));
  const usual = filledPath(file, machine);
  return [first, ...rest].find((path) => path !== undefined && machine.exists(path)) ?? usual;
}

/** Whether a client seems to be installed: a command of it on the path, a folder or a file of it. */
export function isInstalled(client: ClientDescriptor, machine: Machine, commands: ReadonlySet<string>): boolean {
  const { signs } = client;
  return (
    signs.commands.some((command) => commands.has(command)) ||
    signs.folders.some((folder) => machine.exists(filledPath(folder, machine))) ||
    machine.exists(configFileOf(client, machine))
  );
}
