import type { Duplex } from 'node:stream';
import { safeHeaders } from './headers.ts';
import { Problem } from './problem.ts';

/** Answers what is not HTTP, or more of it than is read, before any app could see it. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const detail =
    error.code === 'HPE_HEADER_OVERFLOW' ? 'The headers are larger than 16 KiB.' : 'What was sent is not HTTP/1.1.';
  const body = JSON.stringify(new Problem('invalid-request', detail).body());
  const headers = {
    ...safeHeaders,
    'content-type': 'application/problem+json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n${body}`);
}
