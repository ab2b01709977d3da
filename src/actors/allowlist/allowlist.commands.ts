import type { Binding } from '../../events/allowlist.events.ts';

/** A tool as it is listed now: what a grant of it is bound to. */
export interface SeenTool {
  /** The registered name. */
  readonly name: string;
  readonly server: string;
  readonly identity: string;
  /** Hash of the tool's definition. */
  readonly definition: string;
}

export interface SeenServer {
  readonly server: string;
  readonly identity: string;
}

/** What the allowlist can be told. `by` says who: `file`, or the client of the caller. */
export type AllowlistCommand =
  /** The entries now in the file: all of them, in any order. What is no entry is passed over. */
  | { readonly type: 'SyncFile'; readonly entries: readonly string[]; readonly by: string }
  /** Replaces the entries of one server, all or nothing. A suspended grant that is given again is renewed. */
  | {
      readonly type: 'ReplacePrefix';
      readonly prefix: string;
      readonly entries: readonly string[];
      readonly by: string;
    }
  /** A person approved a call and wants the same to run from now on; binds anew whatever state the grant is in. */
  | { readonly type: 'Remember'; readonly entry: string; readonly by: string; readonly binding: Binding }
  /**
   * What is listed now. To be told after every list and after every change of the entries; `servers` adds those without
   * a tool. Grants of what is not named stay as they are.
   */
  | { readonly type: 'BindSeen'; readonly tools: readonly SeenTool[]; readonly servers?: readonly SeenServer[] }
  | { readonly type: 'RemoveServer'; readonly server: string; readonly by: string };
