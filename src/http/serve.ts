/** Where the daemon listens: a TCP port and a Unix socket for one app. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { markLocal } from './door.ts';
import { isLoopbackBind, ListenError, listenOnPort } from './listen.port.ts';
import { listenOnSocket } from './listen.socket.ts';
import { answerBrokenRequest } from './raw.answer.ts';
import type { App } from './routes/route.ts';

export interface ServeOptions {
  /** From `buildApp`. */
  readonly app: App;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Path of the Unix socket or name of the Windows pipe; null: none. */
  readonly socket: string | null;
  /** Let a host that other machines can reach be listened on. */
  readonly allowRemote: boolean;
  /** Hears of connections that could not be accepted; the daemon goes on. */
  readonly onError: (error: Error) => void;
}

export interface Served {
  readonly port: number;
  /** Always by the loopback address. */
  readonly url: string;
  readonly socket: string | null;
  /** Takes nothing new, ends streams, lets running requests finish for at most `graceMs`, then cuts them off. */
  close(graceMs?: number): Promise<void>;
}

const usualGraceMs = 5000;
/** Longer than proxies keep a connection, so that they close it and not we. */
const keepAliveTimeout = 72_000;

/**
 * Opens the socket, then the port. Rejects with a ListenError if either cannot be had; nothing stays open then.
 * No request is looked at before the caller has run on after the promise, so it can note the port first.
 */
export async function serve({ app, host, port, socket, allowRemote, onError }: ServeOptions): Promise<Served> {
  if (!allowRemote && !isLoopbackBind(host))
    throw new ListenError(
      'remote-host',
      `${host} is not an address of this machine alone, as 127.0.0.1 is: others might reach the daemon there. Leave --host out, or add --allow-remote if that is wanted.`,
    );
  let closing = false;
  const answer: RequestListener = (request, response) => {
    // Once the app closes, it is the one that turns requests away.
    if (closing || !app.shortcut(request, response)) app.routing(request, response);
  };
  const local = socket === null ? null : serverOf(answer).on('connection', markLocal);
  if (local !== null && socket !== null) await listenOnSocket(local, socket);
  const open = serverOf(answer);
  try {
    await listenOnPort(open, host, port);
  } catch (error) {
    if (local !== null) await closeServer(local, 0);
    throw error;
  }
  for (const server of [open, local]) server?.on('error', onError);
  const bound = (open.address() as AddressInfo).port;
  return {
    port: bound,
    url: `http://127.0.0.1:${bound}`,
    socket,
    close: async (graceMs = usualGraceMs) => {
      closing = true;
      const ends = [open, local].filter((server) => server !== null).map((server) => closeServer(server, graceMs));
      await Promise.all([app.close(), ...ends]);
    },
  };
}

function serverOf(answer: RequestListener): Server {
  // A missing Host is refused by the guard, in the same words as a wrong one.
  const server = createServer({ keepAliveTimeout, requireHostHeader: false }, answer);
  return server.on('clientError', answerBrokenRequest);
}

/** Resolves when no connection is left. */
function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    // A connection whose request ends after `close` would stay open for its keep-alive time.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(sweep);
      resolve();
    });
  });
}
