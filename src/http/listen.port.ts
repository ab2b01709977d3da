import type { Server } from 'node:http';

export type ListenErrorCode =
  | 'port-in-use'
  | 'port-forbidden'
  | 'host-unknown'
  | 'remote-host'
  | 'socket-in-use'
  | 'failed';

/** The daemon cannot listen where it was told to; the message names the place and the option that changes it. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  constructor(
    readonly code: ListenErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Whether only this machine can reach what listens on `host`. */
export const isLoopbackBind = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);

/** Resolves when connections are taken. Rejects with a ListenError. */
export function listenOnPort(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) => reject(explain(error, host, port));
    server.once('error', failed);
    server.listen({ host: host.replace(/^\[(.*)\]$/, '$1'), port, exclusive: true }, () => {
      server.off('error', failed);
      resolve();
    });
  });
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): ListenError {
  const cause = { cause: error };
  if (error.code === 'EADDRINUSE')
    return new ListenError(
      'port-in-use',
      `Port ${port} is taken; choose another with --port (0 takes any free one).`,
      cause,
    );
  if (error.code === 'EACCES')
    return new ListenError(
      'port-forbidden',
      `Port ${port} may not be opened; choose one above 1023 with --port.`,
      cause,
    );
  if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'].includes(error.code ?? ''))
    return new ListenError('host-unknown', `${host} is no address of this machine; choose another with --host.`, cause);
  return new ListenError('failed', `Port ${port} on ${host} cannot be opened: ${error.message}`, cause);
}
