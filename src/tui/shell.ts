/** The terminal view as a program: a loop around the model, which alone decides what happens. */
import type { Client } from '../api/client.ts';
import type { Screen } from '../cli/terminal.ts';
import { type ErrandOptions, errandsFor } from './errands.ts';
import { followFeed } from './feed.ts';
import { openFrames } from './frame.tsx';
import { type KeyReader, keyReader } from './keys.ts';
import { initial, start, update } from './model.ts';
import { painterOn } from './painter.ts';
import type { Message, Model, Step, Surroundings } from './state.ts';
import { takeTerminal } from './terminal.ts';

const tickMs = 1_000;
/** A lone Escape is the key when nothing follows it for this long. */
const escapeMs = 40;

export interface ViewOptions extends Pick<ErrandOptions, 'openBrowser' | 'startDaemon'> {
  readonly api: Client;
  readonly screen: Screen;
  readonly colored: boolean;
  readonly around: Surroundings;
  readonly bell: boolean;
  /** What stood after the command: nothing, `add`, or the name of a server. */
  readonly words: readonly string[];
  readonly now: () => number;
  /** Ends the view as `q` does. */
  readonly signal: AbortSignal;
}

/**
 * Shows the view until the person quits or the signal ends. The terminal is given back in every case; rejects with what went
 * wrong in the view itself.
 */
export async function runView(options: ViewOptions): Promise<void> {
  const { api, screen, colored, around, bell, words, now } = options;
  const over = new AbortController();
  let failure: { readonly error: unknown } | null = null;
  const end = (): void => over.abort();
  const fail = (error: unknown): void => {
    failure ??= { error };
    end();
  };

  const reader = keyReader();
  const terminal = takeTerminal(screen, {
    input: (chunk) => typed(reader, chunk),
    resize: () => tell({ is: 'resize', size: terminal.size() }, true),
  });
  const painter = painterOn(terminal.write, () => model.size.columns);
  const frames = openFrames(painter.paint, colored, fail);
  const timers = new Set<NodeJS.Timeout>();
  const later = (ms: number, what: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      what();
    }, ms);
    timers.add(timer);
  };

  const errands = errandsFor({
    api,
    tell: (message) => tell(message),
    lost: () => tell({ is: 'lost' }),
    openBrowser: options.openBrowser,
    startDaemon: options.startDaemon,
    ring: () => terminal.write('\u0007'),
    wake: (afterMs) => later(afterMs + 1, () => tell({ is: 'tick' })),
    quit: end,
  });

  let model: Model;
  let begun = words.length === 0;
  let drawing = false;

  /** Draws once for all that happens in one turn. */
  const draw = (): void => {
    if (drawing) return;
    drawing = true;
    setImmediate(() => {
      drawing = false;
      if (!over.signal.aborted) guarded(() => frames.draw(model));
    });
  };
  const take = ([next, commands]: Step): void => {
    model = next;
    for (const command of commands) errands.run(command);
    draw();
  };
  const guarded = (what: () => void): void => {
    try {
      what();
    } catch (error) {
      fail(error);
    }
  };
  function tell(message: Message, anew = false): void {
    if (over.signal.aborted) return;
    if (anew) painter.forget();
    guarded(() => {
      take(update(model, message, now()));
      if (begun || message.is !== 'loaded' || message.found.what !== 'status') return;
      begun = true;
      take(start(model, words));
    });
  }
  function typed(keys: KeyReader, chunk: string): void {
    for (const input of keys.take(chunk)) tell({ is: 'input', input });
    if (!keys.pending) return;
    later(escapeMs, () => {
      for (const input of keys.settle()) tell({ is: 'input', input });
    });
  }

  const ticking = setInterval(() => tell({ is: 'tick' }), tickMs);
  options.signal.addEventListener('abort', end);
  if (options.signal.aborted) end();
  try {
    take(initial({ size: terminal.size(), at: now(), around, bell }));
    const following = followFeed(
      api,
      {
        event: (event) => tell({ is: 'event', event }),
        lost: () => tell({ is: 'lost' }),
        back: () => tell({ is: 'back' }),
      },
      over.signal,
    ).catch(fail);
    await new Promise<void>((resolve) => {
      over.signal.addEventListener('abort', () => resolve(), { once: true });
      if (over.signal.aborted) resolve();
    });
    await following;
  } finally {
    clearInterval(ticking);
    for (const timer of timers) clearTimeout(timer);
    errands.end();
    frames.end();
    terminal.giveBack();
  }
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
}
