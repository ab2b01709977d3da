/** Opening an address in a person's browser: one program, one argument, no shell. */
import { spawn } from 'node:child_process';

type Environment = Readonly<Record<string, string | undefined>>;

/** A program, and what stands before the address. */
export interface BrowserCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** What is wrong with an address that came from elsewhere; null when it may be opened. */
export function openable(text: string): string | null {
  if (!URL.canParse(text) || /[\u0000-\u0020\u007f"<>\\^`{|}]/.test(text)) return 'is not a web address';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'holds a user name or password';
  if (url.protocol === 'https:') return null;
  const here = url.hostname === 'localhost' || url.hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(url.hostname);
  return url.protocol === 'http:' && here ? null : 'is neither https nor on this machine';
}

/**
 * How a browser is opened here. `BROWSER` names a program; without it only where somebody sits at a terminal with a
 * desktop. null: nobody would see it.
 */
export function browserCommand(env: Environment, platform: NodeJS.Platform, attended: boolean): BrowserCommand | null {
  if (env.BROWSER === 'none') return null;
  if (env.BROWSER) return { command: env.BROWSER, args: [] };
  if (!attended) return null;
  switch (platform) {
    case 'darwin':
      return { command: 'open', args: [] };
    case 'win32':
      // `start` would need a shell, to which `&` in an address means something.
      return { command: 'rundll32', args: ['url.dll,FileProtocolHandler'] };
    default:
      return env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME ? { command: 'xdg-open', args: [] } : null;
  }
}

/** Resolves with whether the program started. It is not waited for, and nothing of it is shown. */
export function openBrowser({ command, args }: BrowserCommand, url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true, shell: false });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
