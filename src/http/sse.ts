/** One answer of `text/event-stream`, written with regard to how fast the other side reads. */
import type { ServerResponse } from 'node:http';
import { streamHeaders } from './headers.ts';

/** Milliseconds and bytes. */
export interface StreamLimits {
  /** A comment is sent this often, so that a dead connection is noticed on either side. */
  readonly heartbeatMs: number;
  /** A reader that takes nothing for this long is cut off; it resumes by `Last-Event-ID`. */
  readonly stallMs: number;
  /** More than this is not kept for a slow reader. */
  readonly bufferBytes: number;
}

export const usualLimits: StreamLimits = { heartbeatMs: 15_000, stallMs: 60_000, bufferBytes: 256 * 1024 };

export interface EventStream {
  readonly isOpen: boolean;
  /** More is waiting for the reader than may be kept; send nothing until `drained`. */
  readonly isFull: boolean;
  /** Does nothing once the stream is closed. */
  send(frame: { id?: number; event?: string; data: unknown }): void;
  /** Resolves when the reader has caught up, or the stream is closed. */
  drained(): Promise<void>;
  /** Returns what takes the listener away again. */
  onClose(listener: () => void): () => void;
  end(): void;
}

export function openEventStream(response: ServerResponse, limits: StreamLimits): EventStream {
  const isOpen = () => !response.writableEnded && !response.destroyed;
  response.writeHead(200, streamHeaders);
  // The first byte tells the reader that it is being listened to.
  response.write(': watching\n\n');
  const heartbeat = setInterval(() => {
    if (isOpen() && !response.writableNeedDrain) response.write(': still here\n\n');
  }, limits.heartbeatMs);
  heartbeat.unref();
  response.once('close', () => clearInterval(heartbeat));

  return {
    get isOpen() {
      return isOpen();
    },
    get isFull() {
      return response.writableLength > limits.bufferBytes;
    },
    send: ({ id, event, data }) => {
      if (!isOpen()) return;
      const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`;
      response.write(`${head}data: ${JSON.stringify(data)}\n\n`);
    },
    drained: () => drained(response, limits.stallMs),
    onClose: (listener) => {
      response.once('close', listener);
      return () => response.off('close', listener);
    },
    end: () => {
      if (isOpen()) response.end();
    },
  };
}

function drained(response: ServerResponse, stallMs: number): Promise<void> {
  if (!response.writableNeedDrain || response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const cut = setTimeout(() => response.destroy(), stallMs);
    const settle = () => {
      clearTimeout(cut);
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.once('drain', settle).once('close', settle);
  });
}
