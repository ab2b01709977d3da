import { type PermissionMode, permissionMode } from '../events/call.events.ts';
import type { Caller } from './keeper.ts';
import { Problem } from './problem.ts';

const rank: Readonly<Record<PermissionMode, number>> = { deny: 0, ask: 1, 'allow-all': 2 };

export interface AskedMode {
  readonly permission_mode?: PermissionMode | undefined;
  readonly allow_all?: boolean | undefined;
  /** Value of `Watchkeeper-Permission-Mode`; the body goes before it. */
  readonly header?: string | undefined;
}

/**
 * The permission mode of one call: what the request says, else what the caller has by default.
 * A request may go below the caller's ceiling and never above it. Throws a Problem.
 */
export function chooseMode(asked: AskedMode, caller: Caller): PermissionMode {
  const mode = fromBody(asked) ?? fromHeader(asked.header) ?? caller.defaultMode;
  if (rank[mode] <= rank[caller.ceiling]) return mode;
  throw new Problem(
    'mode-above-ceiling',
    `Mode "${mode}" is above "${caller.ceiling}", the most this token may ask for.`,
  );
}

function fromBody({ permission_mode: mode, allow_all: all }: AskedMode): PermissionMode | undefined {
  if (all !== true) return mode;
  if (mode === undefined || mode === 'allow-all') return 'allow-all';
  throw new Problem('invalid-request', `allow_all: true contradicts permission_mode: "${mode}"; send one of them.`);
}

function fromHeader(header: string | undefined): PermissionMode | undefined {
  if (header === undefined) return undefined;
  const read = permissionMode.safeParse(header.trim());
  if (read.success) return read.data;
  throw new Problem(
    'invalid-request',
    `The header Watchkeeper-Permission-Mode must be one of ${permissionMode.options.join(', ')}.`,
  );
}
