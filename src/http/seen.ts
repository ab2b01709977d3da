/** What the guard looks at, out of a request of Node's. */
import type { IncomingMessage } from 'node:http';
import { isLocal } from './door.ts';
import type { Seen } from './guard.ts';

export function lookAt({ method = '', url = '', headers, socket }: IncomingMessage): Seen {
  return {
    method,
    url,
    host: headers.host,
    origin: headers.origin,
    authorization: headers.authorization,
    contentType: headers['content-type'],
    client: oneOf(headers['watchkeeper-client']),
    hasBody: headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0,
    local: isLocal(socket),
  };
}

const oneOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(', ') : header;
