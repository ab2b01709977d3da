/** The terminal: joins the model, what draws it and what carries out its commands. Loaded when it is asked for, since nothing else needs React. */
import type { ReadStream, WriteStream } from 'node:tty';
import { render } from 'ink';
import { createElement } from 'react';
import type { Client } from '../api/client.ts';
import { screenText } from './ansi.ts';
import { Screen } from './draw.tsx';
import { followFeed } from './feed.ts';
import { keyReader } from './keys.ts';
import { ANEW } from './line.ts';
import { begin, type Message } from './model.ts';
import { shell } from './shell.ts';
import { takeTerminal } from './terminal.ts';
import { update } from './update.ts';
import { view } from './view.ts';

export interface TerminalOptions {
  readonly api: Client;
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly color: boolean;
  readonly bell: boolean;
  /** Words behind `/mcp`: none, `add`, or a server. */
  readonly words: readonly string[];
  /** From outside: the program is to end. */
  readonly signal: AbortSignal;
  now(): number;
  openBrowser(url: string): Promise<boolean>;
}

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** A lone Escape is told from the beginning of a sequence by silence, in ms. */
const ESCAPE_MS = 30;
/** The clock of the screen, in ms: times on it count by seconds. */
const TICK_MS = 500;
/** How often the last hour is read anew, in ms. */
const HISTORY_MS = 60_000;

/** Resolves when the person leaves or `signal` ends; rejects with what broke it. The terminal is given back before. */
export async function runTerminal(options: TerminalOptions): Promise<void> {
  const { api, color, now, signal } = options;
  const terminal = takeTerminal(options.input, options.output);
  const over = new AbortController();
  let failure: unknown;
  const end = (error?: unknown): void => {
    failure ??= error;
    over.abort();
  };
  const broken = (error: unknown): void => end(error);
  const ended = (name: NodeJS.Signals): void => {
    if (terminal.isOurs()) {
      end();
      return;
    }
    // Ended while it is stopped: Node would touch the terminal once more at its end, and be stopped again for it.
    process.removeAllListeners(name);
    process.kill(process.pid, name);
  };
  // As long as these stay, nobody else ends the process before the terminal is given back.
  for (const name of signals) process.on(name, ended);
  process.on('uncaughtException', broken);
  process.on('unhandledRejection', broken);
  signal.addEventListener('abort', () => end(), { once: true });

  let model = begin({ ...terminal.size(), now: now(), bell: options.bell });
  /** How often all of it had to be drawn anew. */
  let times = 0;
  /** A screen that was cleared differs from what it was before, so that it is drawn also when it looks the same. */
  const screen = (): string => screenText(view(model), color) + ANEW.repeat(times % 64);
  let drawn = screen();
  const ink = render(createElement(Screen, { text: drawn }), {
    stdin: options.input,
    stdout: terminal.screen,
    exitOnCtrlC: false,
    patchConsole: false,
  });
  let due = false;
  const hear = (message: Message): void => {
    if (over.signal.aborted) return;
    try {
      const next = update(model, message);
      model = next.model;
      for (const command of next.commands) run(command);
    } catch (error) {
      end(error);
      return;
    }
    if (due) return;
    due = true;
    setImmediate(() => {
      due = false;
      if (over.signal.aborted) return;
      try {
        const text = screen();
        if (text === drawn) return;
        drawn = text;
        ink.rerender(createElement(Screen, { text }));
      } catch (error) {
        end(error);
      }
    });
  };
  const run = shell({
    api,
    now,
    hear,
    openBrowser: options.openBrowser,
    copy: (text) => terminal.write(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`),
    ring: () => terminal.write('\u0007'),
    suspend: () => terminal.suspend(),
    leave: () => end(),
  });

  const keys = keyReader();
  let silence: NodeJS.Timeout | undefined;
  terminal.onInput((chunk) => {
    clearTimeout(silence);
    for (const input of keys.take(chunk)) hear({ kind: 'input', input, at: now() });
    if (!keys.pending) return;
    silence = setTimeout(() => {
      for (const input of keys.settle()) hear({ kind: 'input', input, at: now() });
    }, ESCAPE_MS);
  });
  const drawAnew = (): void => {
    if (over.signal.aborted) return;
    terminal.write('\u001b[H\u001b[2J');
    ink.clear();
    times += 1;
    hear({ kind: 'size', ...terminal.size() });
  };
  terminal.onResize(drawAnew);
  terminal.onBack(drawAnew);
  terminal.onGone(() => end());
  const clock = setInterval(() => hear({ kind: 'tick', at: now() }), TICK_MS);
  const history = setInterval(() => run({ do: 'load-history' }), HISTORY_MS);
  hear({ kind: 'typed', words: options.words });
  void followFeed(api, hear, now, over.signal);

  await new Promise<void>((resolve) => {
    if (over.signal.aborted) resolve();
    over.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  clearInterval(clock);
  clearInterval(history);
  clearTimeout(silence);
  ink.unmount();
  terminal.close();
  for (const name of signals) process.off(name, ended);
  process.off('uncaughtException', broken);
  process.off('unhandledRejection', broken);
  if (failure !== undefined) throw failure;
}
