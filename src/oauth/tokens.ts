/** When a token is renewed. Pure: times and the random number come in. */
import type { ServerMetadata } from './metadata.ts';
import type { StoredTokens } from './record.ts';

/** A token that ends sooner than this is not sent any more, in ms: the request has to arrive, and clocks differ. */
export const MARGIN_MS = 10_000;
/** The earliest moment at which a token is renewed ahead of its end, in ms and as a share of its life. */
const AHEAD_MS = 300_000;
const AHEAD_SHARE = 0.2;

/** `now`: before anything is sent; `soon`: beside what is sent, while the old one still works. */
export type Due = 'no' | 'soon' | 'now';

/** `random` in 0..1 spreads the renewals of many servers and many daemons over the time ahead. */
export function dueAt({ expiresAt, obtainedAt, refresh }: StoredTokens, now: number, random: number): Due {
  if (expiresAt === null || refresh === null) return 'no';
  const life = Math.max(0, expiresAt - obtainedAt);
  const margin = Math.min(MARGIN_MS, life / 4);
  if (now >= expiresAt - margin) return 'now';
  const ahead = Math.min(AHEAD_MS, life * AHEAD_SHARE);
  return now >= expiresAt - margin - ahead * (0.5 + random / 2) ? 'soon' : 'no';
}

/** What a token endpoint answered, as far as it was checked by whoever asked. */
export interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in?: number | undefined;
  readonly scope?: string | undefined;
  readonly refresh_token?: string | undefined;
}

/**
 * The answer of a token endpoint without what some servers put in it although it says nothing: `null`, empty texts, lives
 * that are no numbers. The type is left out by some that know one kind only. Anything else stays as it is.
 */
export function tidied(document: unknown): unknown {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return document;
  const said = Object.entries(document).filter(([, value]) => value !== null && value !== '');
  const { expires_in: life, ...rest } = Object.fromEntries(said) as Record<string, unknown>;
  const seconds = typeof life === 'number' || typeof life === 'string' ? Number(life) : Number.NaN;
  return { token_type: 'Bearer', ...rest, ...(Number.isFinite(seconds) ? { expires_in: seconds } : {}) };
}

/** Longer lives than a century are none. */
const LONGEST_S = 3_155_760_000;

/** A life that is no number of seconds is not known. */
const endOf = (seconds: number | undefined, now: number): number | null =>
  seconds !== undefined && seconds > 0 && seconds <= LONGEST_S ? now + seconds * 1_000 : null;

/** Why a token cannot be used; null when it can. What is sent in a header holds visible ASCII only (RFC 6750 §2.1). */
export function tokenFault({ access_token, token_type }: TokenAnswer): string | null {
  if (token_type.toLowerCase() !== 'bearer') return 'gave a token of a kind this program cannot use';
  return /^[\x21-\x7e]+$/.test(access_token) ? null : 'gave a token that no header can hold';
}

/** The tokens of a login. `asked`: the scope asked for, which counts where the answer does not say. */
export function tokensOf(
  answer: TokenAnswer,
  of: {
    readonly metadata: ServerMetadata;
    readonly client: StoredTokens['client'];
    readonly resource: string;
    readonly asked: string | null;
  },
  now: number,
): StoredTokens {
  const { metadata, client, resource, asked } = of;
  return {
    issuer: metadata.issuer,
    tokenEndpoint: metadata.tokenEndpoint,
    revocationEndpoint: metadata.revocationEndpoint,
    authMethods: metadata.authMethods === null ? null : [...metadata.authMethods],
    client,
    resource,
    scope: answer.scope ?? asked,
    access: answer.access_token,
    refresh: answer.refresh_token || null,
    expiresAt: endOf(answer.expires_in, now),
    obtainedAt: now,
  };
}

/** The tokens after a renewal: what the answer leaves out stays as it was. */
export const renewed = (old: StoredTokens, answer: TokenAnswer, now: number): StoredTokens => ({
  ...old,
  access: answer.access_token,
  refresh: answer.refresh_token || old.refresh,
  scope: answer.scope ?? old.scope,
  expiresAt: endOf(answer.expires_in, now),
  obtainedAt: now,
});
