import type { LoginFrame } from '../../api/login.ts';
import { mustKnow } from '../ask.daemon.ts';
import { browserCommand, openable, openBrowser } from '../browser.ts';
import type { Command, Context, Piece } from '../command.ts';
import { CommandError, exitCode } from '../failure.ts';
import { flag, text } from '../options.ts';
import { harmless } from '../paint.ts';

type LoginEnd = Extract<LoginFrame, { done: true }>;

const SECRET = 'WATCHKEEPER_CLIENT_SECRET';

/** Follows one login: shows the address, opens it where that is wanted, takes a pasted one, and tells the end. */
async function* follow(context: Context, name: string, browser: boolean): AsyncGenerator<Piece, number> {
  const { api } = context;
  const interrupted = context.untilInterrupted();
  const over = new AbortController();
  const signal = AbortSignal.any([interrupted, over.signal]);
  const frames = api.login(name, { signal });
  const refused = takePasted(context, name, signal);
  let frame = frames.next();
  let paste = refused.next();
  try {
    for (;;) {
      const first = await Promise.race([
        frame.then((next) => ({ next })),
        paste.then(({ done, value }) => ({ note: done ? null : value })),
      ]);
      if ('note' in first) {
        paste = first.note === null ? never : refused.next();
        if (first.note !== null) yield { notes: [first.note] };
        continue;
      }
      if (first.next.done) return exitCode.failed;
      const { value } = first.next;
      if ('done' in value) return yield* ended(context, name, value);
      yield await shown(context, value.url, browser);
      frame = frames.next();
    }
  } catch (error) {
    if (interrupted.aborted) return exitCode.failed;
    throw error;
  } finally {
    over.abort();
    frame.catch(() => {});
  }
}

const never = new Promise<never>(() => {});

function* ended({ json }: Context, name: string, end: LoginEnd): Generator<Piece, number> {
  const { ok, error, reconnect_error: trouble } = end;
  if (!ok && !json) throw new CommandError(error ?? 'The login did not succeed.', { next: [`login ${name}`] });
  const notes =
    trouble === undefined ? [] : [`It is not ready yet: ${harmless(trouble)}`, `  watchkeeper status ${name}`];
  yield { json: end, text: () => `Logged in to ${name}.\n`, notes };
  return ok ? exitCode.done : exitCode.failed;
}

/** The address is checked here once more: it came from far away and goes to a program. */
async function shown({ env, terminal }: Context, url: string, browser: boolean): Promise<Piece> {
  const wrong = openable(url);
  if (wrong !== null)
    throw new CommandError(`The address for the browser ${wrong}; it is not opened.`, {
      next: ['log --stream logins'],
    });
  const command = browser ? browserCommand(env, process.platform, terminal.asks) : null;
  const opened = command !== null && (await openBrowser(command, url));
  return {
    json: { url },
    text: () => `${url}\n`,
    notes: [
      opened ? 'Your browser opens this address.' : 'Open this address in your browser.',
      'If the browser cannot come back, paste the address it ends at here.',
    ],
  };
}

/** Hands over lines that are typed or pasted until one is taken; yields why one was not. */
async function* takePasted({ api, lines }: Context, name: string, signal: AbortSignal): AsyncGenerator<string, void> {
  for await (const line of lines(signal)) {
    const address = line.trim();
    if (address === '') continue;
    try {
      await api.pasteCallback(name, address);
      return;
    } catch (error) {
      yield error instanceof Error ? harmless(error.message) : 'The address was not taken.';
    }
  }
}

export const login: Command = {
  description: {
    name: 'login',
    group: 'Servers',
    summary: 'log in to a server in the browser',
    arguments: [{ name: '<server>', about: 'one with "auth": "oauth" in its entry' }],
    options: [
      { flags: '--no-browser', about: 'only print the address' },
      { flags: '--client-id <id>', about: `log in as a client you registered; its secret, if any, in ${SECRET}` },
      { flags: '--from-agenvoy', about: 'take over the login that Agenvoy has, without a browser' },
      { flags: '--redirect-uri <url>', about: 'where that client comes back to, byte for byte' },
    ],
    examples: [
      { line: 'login github', about: 'opens the browser and waits until it comes back' },
      {
        line: 'login github --no-browser',
        about: 'on another machine: open the address there, paste the one it ends at',
      },
      { line: 'login github --client-id Iv1.abc', about: 'where the server registers no clients by itself' },
    ],
  },
  async run(context, { positional: [name = ''] }, options) {
    const { api, env } = context;
    await mustKnow(api, name, 'login');
    if (flag(options, 'fromAgenvoy')) {
      const adopted = await api.adoptLogin(name);
      const trouble = adopted.reconnect_error;
      const notes = trouble === undefined ? [] : [`It is not ready yet: ${harmless(trouble)}`];
      return { kind: 'answer', json: adopted, text: () => `Logged in to ${name}.\n`, confirms: true, notes };
    }
    const id = text(options, 'clientId');
    const redirectUri = text(options, 'redirectUri');
    if (id === undefined && redirectUri !== undefined)
      throw new CommandError('--redirect-uri belongs to --client-id.', {
        exit: exitCode.usedWrongly,
        next: ['login --help'],
      });
    if (id !== undefined) await api.giveClient(name, { id, secret: env[SECRET] || undefined, redirectUri });
    return { kind: 'stream', pieces: follow(context, name, flag(options, 'browser')) };
  },
};
