/** The Unix socket: only its owner may connect, from the first moment on. */
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { ListenError } from './listen.port.ts';

const isPipe = (path: string): boolean => path.startsWith('\\\\');

/** Resolves when connections are taken. A socket that nobody answers on is replaced. Rejects with a ListenError. */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  await makeRoom(path);
  await new Promise<void>((resolve, reject) => {
    const failed = (cause: NodeJS.ErrnoException) => {
      const code = cause.code === 'EADDRINUSE' ? 'socket-in-use' : 'failed';
      reject(new ListenError(code, `The socket ${path} cannot be opened: ${cause.message}`, { cause }));
    };
    server.once('error', failed);
    privately(() =>
      server.listen(path, () => {
        server.off('error', failed);
        resolve();
      }),
    );
  });
  if (!isPipe(path)) chmodSync(path, 0o600);
}

async function makeRoom(path: string): Promise<void> {
  const found = isPipe(path) ? undefined : lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket())
    throw new ListenError('socket-in-use', `${path} is in the way of the daemon's socket; move it elsewhere.`);
  if (await isAnswered(path))
    throw new ListenError('socket-in-use', `Another daemon answers on ${path}; end it with "watchkeeper down".`);
  rmSync(path, { force: true });
}

/** Anything but a plain refusal is taken for an answer: a living daemon's socket must not be removed. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT');
    });
  });
}

/** `bind` happens inside `listen`, so the mode it gives the file is decided here. */
function privately(listen: () => void): void {
  const before = umask(0o177);
  try {
    listen();
  } finally {
    if (before !== undefined) umask(before);
  }
}

/** A worker thread may not change it; the data directory's own mode protects the socket there. */
function umask(mask: number): number | undefined {
  try {
    return process.umask(mask);
  } catch {
    return undefined;
  }
}
