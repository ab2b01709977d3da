/** A terminal that a test looks at and types into: tmux with a socket of its own. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { atEnd } from './cleanup.ts';
import { type Home, plainEnv } from './daemon.ts';
import { cliMain } from './paths.ts';
import { tempDir } from './temp.ts';
import { until } from './wait.ts';

export interface TerminalUnderTest {
  /** Keys as tmux calls them: `Enter`, `C-s`, `Down`, `a`. */
  keys(...names: string[]): void;
  /** Letters, as they are. */
  type(text: string): void;
  /** As a terminal hands over what is pasted. */
  paste(text: string): void;
  /** What stands on the screen now. */
  text(): string;
  /** The same as somebody gets it who copies it: lines that the terminal wrapped by itself are one. */
  copied(): string;
  /** Waits until it stands on the screen, and resolves with the screen. */
  see(pattern: RegExp, limitMs?: number): Promise<string>;
  /** Waits until it is gone. */
  unsee(pattern: RegExp): Promise<string>;
  resize(columns: number, rows: number): void;
  /** Codes of the colours that are on the screen. */
  colors(): readonly string[];
  /** Whether the alternate screen is on, and the cursor shown. */
  modes(): { readonly alternate: boolean; readonly cursor: boolean };
  /** Takes the terminal away. */
  hangUp(): void;
  /** The program on the terminal. */
  pid(): number;
}

export interface TerminalSetting {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** In a shell with job control, which goes on when the program has ended or is stopped. */
  readonly inShell?: boolean;
}

/** Starts a command of the CLI on a terminal; `EXIT <code>` stands on it when that has ended. */
export function onTerminal(
  home: Home,
  args: readonly string[],
  { columns = 80, rows = 24, env = {}, inShell = false }: TerminalSetting = {},
): TerminalUnderTest {
  const socket = join(tempDir(), 'tmux');
  const tmux = (...words: string[]): string =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...words], {
      encoding: 'utf8',
      env: plainEnv(home.home, {
        WATCHKEEPER_CONFIG: home.config,
        WATCHKEEPER_DATA: home.dir,
        WATCHKEEPER_PORT: '0',
        BROWSER: 'none',
        SHELL: '/bin/sh',
        ...env,
      }),
    });
  const quoted = [process.execPath, cliMain, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  const line = `${quoted}; echo EXIT $?; exec cat`;
  const program = inShell ? ['env', 'PS1=$ ', 'sh', '-i'] : ['sh', '-c', line];
  tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), ...program);
  if (inShell) {
    tmux('send-keys', '-l', quoted);
    tmux('send-keys', 'Enter');
  }
  let gone = false;
  const hangUp = (): void => {
    if (!gone) tmux('kill-server');
    gone = true;
  };
  atEnd(hangUp);
  const text = (): string => tmux('capture-pane', '-p');
  const waitFor = async (holds: (screen: string) => boolean, what: string, limitMs = 15_000): Promise<string> => {
    let screen = '';
    try {
      return await until(
        () => {
          screen = text();
          return holds(screen) ? screen : false;
        },
        { limitMs, everyMs: 40, what },
      );
    } catch (error) {
      throw new Error(`${(error as Error).message} The screen:\n${screen}`, { cause: error });
    }
  };
  return {
    keys: (...names) => void tmux('send-keys', ...names),
    type: (letters) => void tmux('send-keys', '-l', letters),
    paste: (pasted) => {
      tmux('set-buffer', '--', pasted);
      tmux('paste-buffer', '-p');
    },
    text,
    copied: () => tmux('capture-pane', '-p', '-J'),
    see: (pattern, limitMs) => waitFor((screen) => pattern.test(screen), `${pattern} on the screen`, limitMs),
    unsee: (pattern) => waitFor((screen) => !pattern.test(screen), `a screen without ${pattern}`),
    resize: (columns, rows) => void tmux('resize-window', '-x', String(columns), '-y', String(rows)),
    colors: () => {
      const codes = [...tmux('capture-pane', '-p', '-e').matchAll(/\u001b\[([\d;]*)m/g)].flatMap(([, list = '']) =>
        list.split(';'),
      );
      return [...new Set(codes)].filter((code) => /^(?:3[0-7]|4[0-7]|9\d)$/.test(code));
    },
    modes: () => {
      const [alternate, cursor] = tmux('display', '-p', '#{alternate_on} #{cursor_flag}').trim().split(' ');
      return { alternate: alternate === '1', cursor: cursor === '1' };
    },
    hangUp,
    pid: () =>
      Number(
        execFileSync('pgrep', ['-P', tmux('list-panes', '-F', '#{pane_pid}').trim()], { encoding: 'utf8' }).split(
          '\n',
        )[0],
      ),
  };
}
