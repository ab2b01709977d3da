/** What a hit on the callback address means. Only one that knows a state that waits can mean anything. Pure. */

export interface Expected {
  readonly issuer: string;
  /** The authorization server says that its answers carry `iss`. */
  readonly sendsIssuer: boolean;
}

export type Verdict =
  /** Changes nothing. */
  | { readonly kind: 'stray'; readonly why: string }
  | { readonly kind: 'code'; readonly state: string; readonly code: string }
  /** The authorization server said no. `error` is one of its codes, cleaned. */
  | { readonly kind: 'refused'; readonly state: string; readonly error: string }
  /** The answer comes from another authorization server than the one that was asked (RFC 9207 §2.4). */
  | { readonly kind: 'mixed-up'; readonly state: string; readonly why: string };

const stray = (why: string): Verdict => ({ kind: 'stray', why });

/** `find` gives what is expected for a state that waits. */
export function judgeCallback(query: URLSearchParams, find: (state: string) => Expected | undefined): Verdict {
  for (const name of ['state', 'code', 'error', 'iss']) {
    if (query.getAll(name).length > 1) return stray(`\`${name}\` is there more than once`);
  }
  const state = query.get('state');
  if (!state) return stray('it carries no `state`');
  const expected = find(state);
  if (expected === undefined) return stray('its `state` belongs to no login that waits');
  const iss = query.get('iss');
  if (iss !== null && iss !== expected.issuer)
    return { kind: 'mixed-up', state, why: 'the answer names another issuer (`iss`) than the one that was asked' };
  if (iss === null && expected.sendsIssuer)
    return { kind: 'mixed-up', state, why: 'the answer lacks `iss`, which this authorization server always sends' };
  const error = query.get('error');
  if (error !== null) return { kind: 'refused', state, error: errorCode(error) };
  const code = query.get('code');
  return code ? { kind: 'code', state, code } : stray('it carries neither `code` nor `error`');
}

/** An error code as the registry of OAuth allows them; anything else is foreign text. */
export const errorCode = (text: string): string =>
  /^[a-z][a-z0-9_]{0,63}$/i.test(text) ? text : 'an error it does not name';
