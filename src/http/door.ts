/** Through which door a connection came. */
import type { Socket } from 'node:net';

const locals = new WeakSet<Socket>();

/** Says that a connection came through the Unix socket. */
export const markLocal = (socket: Socket): void => {
  locals.add(socket);
};

export const isLocal = (socket: Socket): boolean => locals.has(socket);
