/** A real terminal for tests: a program in tmux, its keys and what is on its screen. Nothing waits for a time, only for words. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { atEnd } from './cleanup.ts';
import { type Home, plainEnv } from './daemon.ts';
import { cliMain } from './paths.ts';
import { tempDir } from './temp.ts';
import { until } from './wait.ts';

const run = promisify(execFile);

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Record<string, string>;
}

export interface Terminal {
  /** Presses keys by the names tmux has for them: `Enter`, `Down`, `C-s`. */
  press(...keys: string[]): Promise<void>;
  /** Types a text, letter by letter. */
  type(text: string): Promise<void>;
  /** Pastes a text as a terminal does that puts it in brackets. */
  paste(text: string): Promise<void>;
  /** The rows of the screen. `joined`: rows that the terminal broke by itself are one. */
  screen(how?: { colors?: boolean; joined?: boolean }): Promise<string>;
  /** Resolves with the screen once it shows this. */
  shows(what: string | RegExp, limitMs?: number): Promise<string>;
  /** Resolves once it does not show this any more. */
  hides(what: string | RegExp): Promise<string>;
  resize(columns: number, rows: number): Promise<void>;
  /** What tmux knows: `alternate_on`, `cursor_flag`, `pane_pid`. */
  ask(variable: string): Promise<string>;
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Starts `watchkeeper <args>` for a home. When it ends, the screen shows `ended <code>` and how the terminal is set. */
export async function openTerminal(
  home: Home,
  args: readonly string[],
  { columns = 80, rows = 24, env = {} }: TerminalOptions = {},
): Promise<Terminal> {
  const socket = join(tempDir('tmux-'), 's');
  const tmux = async (...words: string[]): Promise<string> => (await run('tmux', ['-S', socket, ...words])).stdout;
  const all = plainEnv(home.home, {
    TERM: 'screen-256color',
    WATCHKEEPER_CONFIG: home.config,
    WATCHKEEPER_DATA: home.dir,
    WATCHKEEPER_PORT: '0',
    ...env,
  });
  const command = [
    'env -i',
    ...Object.entries(all).map(([name, value]) => quoted(`${name}=${value}`)),
    ...[process.execPath, cliMain, ...args].map(quoted),
  ].join(' ');
  const script = `${command}; echo "ended $?"; stty -a | tr ' ;' '\\n\\n' | grep -x -e '-*icanon' -e '-*echo'; exec cat`;
  await tmux('-f', '/dev/null', 'new-session', '-d', '-x', String(columns), '-y', String(rows), script);
  atEnd(async () => void (await tmux('kill-server').catch(() => '')));

  const screen: Terminal['screen'] = ({ colors = false, joined = false } = {}) =>
    tmux('capture-pane', '-p', ...(colors ? ['-e'] : []), ...(joined ? ['-J'] : []));
  const holds = (text: string, what: string | RegExp): boolean =>
    typeof what === 'string' ? text.includes(what) : what.test(text);
  const waited = async (what: string | RegExp, wanted: boolean, limitMs: number): Promise<string> => {
    let last = '';
    try {
      return await until(
        async () => {
          last = await screen();
          return holds(last, what) === wanted ? last || ' ' : false;
        },
        { limitMs, everyMs: 30 },
      );
    } catch {
      throw new Error(`The screen ${wanted ? 'never showed' : 'went on showing'} ${what}. It shows:\n${last}`);
    }
  };
  return {
    press: async (...keys) => void (await tmux('send-keys', ...keys)),
    type: async (text) => void (await tmux('send-keys', '-l', text)),
    async paste(text) {
      await tmux('set-buffer', text);
      await tmux('paste-buffer', '-p');
    },
    screen,
    shows: (what, limitMs = 20_000) => waited(what, true, limitMs),
    hides: (what) => waited(what, false, 20_000),
    resize: async (x, y) => void (await tmux('resize-window', '-x', String(x), '-y', String(y))),
    ask: async (variable) => (await tmux('display-message', '-p', `#{${variable}}`)).trim(),
  };
}
