import type { FileProblem } from '../config/entry.ts';
import type { ClientDescriptor } from './descriptor.ts';

/** Why a client's file was left as it is. `taken`: entries of the user's own are in the way; `shared`: those of another client. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
  constructor(
    readonly kind: 'malformed' | 'taken' | 'shared' | 'layout',
    message: string,
    readonly entries: readonly string[] = [],
  ) {
    super(message);
  }
}

export const malformed = ({ name }: ClientDescriptor, file: string, problem: FileProblem): ConnectError =>
  new ConnectError('malformed', `${name}: ${file}: ${problem.message}; nothing was written`);
