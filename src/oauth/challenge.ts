/** What a `WWW-Authenticate` header says about a login (RFC 9110 §11.6.1, RFC 6750 §3, RFC 9728 §5.1). Pure. */

export interface Challenge {
  /** Where the server says its metadata is; not checked. */
  readonly resourceMetadata: string | undefined;
  /** Scopes it wants, separated by blanks. */
  readonly scope: string | undefined;
  /** `invalid_token`, `insufficient_scope`… */
  readonly error: string | undefined;
}

export const silence: Challenge = { resourceMetadata: undefined, scope: undefined, error: undefined };

const LONGEST_HEADER = 16_384;
/** A parameter, or a word that begins the next challenge. */
const part = /([A-Za-z0-9!#$%&'*+.^_`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/g;

/** The Bearer challenge of a header that may hold several; null when there is none. */
export function readChallenge(header: string | null | undefined): Challenge | null {
  if (!header) return null;
  let members: Map<string, string> | null = null;
  for (const [, word = '', quoted, plain] of header.slice(0, LONGEST_HEADER).matchAll(part)) {
    const value = quoted?.replace(/\\(.)/g, '$1') ?? plain;
    if (value === undefined) {
      if (members !== null) break;
      if (word.toLowerCase() === 'bearer') members = new Map();
    } else if (members !== null && !members.has(word.toLowerCase())) members.set(word.toLowerCase(), value);
  }
  if (members === null) return null;
  const filled = (name: string): string | undefined => members.get(name)?.trim() || undefined;
  return { resourceMetadata: filled('resource_metadata'), scope: filled('scope'), error: filled('error') };
}
