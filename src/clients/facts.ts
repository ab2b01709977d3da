/** What the daemon says about itself that matters here: the part of `/health` that a check may rely on. */

export interface NameFacts {
  readonly count: number;
  /** Characters of the longest name. */
  readonly longest: number;
}

export interface ServerFacts {
  readonly name: string;
  readonly state?: string | undefined;
  /** The effective prefix; absent only where the daemon does not tell, which is not the same as none. */
  readonly tool_prefix?: string | undefined;
  /** Of names without the prefix; absent until a list was read. */
  readonly tools?: NameFacts | undefined;
}

export interface HubFacts {
  readonly mount_mode?: 'per-server' | 'routed' | undefined;
  /** Of the whole names on `/mcp`. */
  readonly routed?: NameFacts | undefined;
  readonly servers?: readonly ServerFacts[] | undefined;
  /** How many names have so many characters, where the daemon tells. */
  readonly lengths?:
    | {
        readonly servers: Readonly<Record<string, Readonly<Record<string, number>>>>;
        readonly routed: Readonly<Record<string, number>>;
        /** Of `/mcp`, as it would be with `mount_mode: "routed"`. */
        readonly if_routed: NameFacts;
      }
    | undefined;
}
