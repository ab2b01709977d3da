import { stdin, stdout } from 'node:process';
import { browserCommand, openable, openBrowser } from '../browser.ts';
import type { Command, Context, Piece } from '../command.ts';
import { daemonUp } from '../daemon.up.ts';
import { exitCode, usedWrongly } from '../failure.ts';
import { flag } from '../options.ts';

/** The screen draws itself; it ends with the program, with the person, or with what broke it. */
async function* screen(context: Context, words: readonly string[], bell: boolean): AsyncGenerator<Piece, number> {
  const signal = context.untilInterrupted();
  await daemonUp(context);
  const { runTerminal } = await import('../../tui/main.tsx');
  const browser = browserCommand(context.env, process.platform, true);
  await runTerminal({
    api: context.api,
    input: stdin,
    output: stdout,
    color: context.terminal.color,
    bell,
    words,
    signal,
    now: context.now,
    openBrowser: async (url) => browser !== null && openable(url) === null && (await openBrowser(browser, url)),
  });
  if (!signal.aborted) return exitCode.done;
  // Ended from outside.
  return exitCode.failed;
}

export const tui: Command = {
  description: {
    name: 'tui',
    group: 'Daemon',
    summary: 'manage servers and held calls on the terminal; also typed as /mcp',
    arguments: [{ name: '[server]', about: 'opens this server; `add` opens the form for a new one' }],
    options: [{ flags: '--no-bell', about: 'no bell when a call waits (WATCHKEEPER_BELL=off)' }],
    examples: [
      { line: 'tui', about: 'all servers; starts the daemon if none runs' },
      { line: '/mcp github', about: 'the same, and opens one of them' },
    ],
  },
  async run(context, { positional }, options) {
    const { terminal, env, json } = context;
    if (json) throw usedWrongly('The terminal has no --json; other commands do.', 'status --json');
    if (!terminal.live || !terminal.asks) {
      const lacks = env.TERM === 'dumb' ? 'this one cannot draw (TERM=dumb)' : 'here stdin or stdout is none';
      throw usedWrongly(`The terminal needs a terminal: ${lacks}.`, 'status', 'approvals');
    }
    const bell = flag(options, 'bell') && env.WATCHKEEPER_BELL !== 'off';
    return { kind: 'stream', pieces: screen(context, positional, bell) };
  },
};
