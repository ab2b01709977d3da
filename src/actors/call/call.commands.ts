/** What can be asked of a call, and what is reported of it. */
import type { CallFinding, CallRequest, Outcome } from '../../events/call.events.ts';
import type { Grant } from '../allowlist/allowlist.state.ts';

/** What the rules of a call may know besides the call itself: taken from heads, never from tables. */
export interface CallWorld {
  /** Those that could cover the tool. */
  readonly grants: readonly Grant[];
  /** The server as it is now; null when it is not known any more. */
  readonly server: {
    readonly state: string;
    readonly connection: number;
    readonly identity: string;
  } | null;
  /** Hash of the tool's definition now; null when the server no longer offers it. */
  readonly definition: string | null;
}

export interface Settlement {
  readonly outcome: Outcome;
  readonly reason?: string;
  readonly by?: string;
  readonly resultBytes?: number;
  readonly resultHash?: string;
  readonly truncated?: boolean;
}

export type CallCommand =
  | {
      readonly type: 'RequestCall';
      readonly request: CallRequest;
      /** false: the caller does not wait for a person. */
      readonly wait: boolean;
      /** How long a person has, in ms. */
      readonly holdMs: number;
      /** What else is worth a look before approving, in words. */
      readonly remarks?: readonly string[];
      /** Why the caller may not call at all just now. */
      readonly barred?: string | null;
    }
  | {
      readonly type: 'ApproveCall';
      readonly by: string;
      readonly remember: 'once' | 'tool' | 'server';
      /** It must wait for its turn at the server before it starts. */
      readonly inTurn?: boolean;
    }
  | { readonly type: 'StartApproved' }
  | { readonly type: 'DenyCall'; readonly by: string; readonly reason?: string | undefined }
  | { readonly type: 'CancelCall'; readonly by: string }
  /** A person says what came of a call whose outcome is unknown. */
  | {
      readonly type: 'CloseCall';
      readonly by: string;
      readonly finding: CallFinding;
      readonly note?: string | undefined;
    }
  | CallReport;

export type CallReport =
  | { readonly type: 'ReportCallerLeft' }
  | { readonly type: 'ReportCallerReturned' }
  | { readonly type: 'ReportHoldElapsed' }
  | { readonly type: 'ReportResent'; readonly connection: number; readonly reason: string }
  | { readonly type: 'ReportSettled'; readonly settlement: Settlement }
  /** Boot: the daemon that ran it is gone. */
  | { readonly type: 'CloseOpenEnd' };
