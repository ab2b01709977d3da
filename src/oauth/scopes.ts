/** Which scopes a login asks for. Pure. */

export interface ScopeSources {
  /** `oauth.scopes` of the entry. */
  readonly configured: readonly string[] | undefined;
  /** From the newest challenge. */
  readonly challenged: string | undefined;
  /** The challenge says that what the token may do is not enough. */
  readonly insufficient: boolean;
  /** What the token that is there was given, or what was asked for it. */
  readonly granted: string | null;
  /** `scopes_supported` of the resource, and of the authorization server. */
  readonly ofResource: readonly string[] | undefined;
  readonly ofServer: readonly string[] | null;
}

const wordsOf = (scope: string | null | undefined): string[] => (scope ?? '').split(' ').filter((word) => word !== '');
const joined = (...scopes: readonly (readonly string[])[]): string[] => [...new Set(scopes.flat())];

/**
 * The scopes to ask for, null for none (specification, scope selection): those configured, else those of the challenge,
 * else all of the resource. Where more rights are wanted, those that are there stay: the whole is asked for.
 * `offline_access` is added where the authorization server knows it, since without it there may be no refresh token.
 */
export function chooseScope(sources: ScopeSources): string | null {
  const { configured, challenged, insufficient, granted, ofResource, ofServer } = sources;
  const first = configured ?? (challenged === undefined ? (ofResource ?? []) : wordsOf(challenged));
  const wanted = insufficient ? joined(wordsOf(granted), first, wordsOf(challenged)) : joined(first);
  if (wanted.length === 0) return null;
  const offline = ofServer?.includes('offline_access') === true ? ['offline_access'] : [];
  return joined(wanted, offline).join(' ');
}
