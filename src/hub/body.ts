import type { IncomingMessage } from 'node:http';
import { Problem } from '../http/problem.ts';

/** 4 MiB, as for every other body. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The body as text. Rejects with a Problem when it is too large. */
export function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MOST_BYTES) chunks.push(chunk);
      else reject(new Problem('body-too-large', 'The body is larger than 4 MiB.'));
    });
    request.once('end', () =>
      resolve((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))?.toString('utf8') ?? ''),
    );
    request.once('error', reject);
  });
}
