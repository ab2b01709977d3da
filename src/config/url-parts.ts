/** A URL as written, placeholders included, taken apart without changing a character. Pure. */
import { scan } from './expand.ts';

export interface UrlParts {
  /** `https://`, or empty. */
  readonly scheme: string;
  /** The pieces between `:` in front of `@`; null when there is no user info. */
  readonly user: readonly string[] | null;
  /** Host and path. */
  readonly address: string;
  /** `key=value` pairs; a pair without `=` has the key '' and is all value. null: no `?`. */
  readonly query: readonly { readonly key: string; readonly value: string }[] | null;
  /** From `#` on, or empty. */
  readonly fragment: string;
}

/** null when the text's placeholders cannot be read. */
export function splitUrl(text: string): UrlParts | null {
  const scanned = scan(text);
  if (!scanned.ok || text.includes('\0')) return null;
  // Placeholders are put aside, so that a `?` or `@` in a default does not cut the URL.
  const aside: string[] = [];
  const bare = scanned.segments
    .map((segment) => {
      if (segment.kind === 'literal') return segment.written;
      aside.push(segment.written);
      return `\0${aside.length - 1}\0`;
    })
    .join('');
  const back = (part: string): string => part.replace(/\0(\d+)\0/g, (_, index) => aside[Number(index)] ?? '');

  const [, scheme = '', authority = '', path = '', query, fragment = ''] =
    /^([A-Za-z][A-Za-z0-9+.-]*:\/\/)?([^/?#]*)([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(bare) ?? [];
  const at = authority.lastIndexOf('@');
  return {
    scheme,
    user: at < 0 ? null : authority.slice(0, at).split(':').map(back),
    address: back(authority.slice(at + 1) + path),
    query: query === undefined ? null : query.split('&').map((pair) => splitPair(pair, back)),
    fragment: back(fragment),
  };
}

export function joinUrl(parts: UrlParts): string {
  const user = parts.user === null ? '' : `${parts.user.join(':')}@`;
  const pairs = parts.query?.map(({ key, value }) => (key === '' ? value : `${key}=${value}`));
  return `${parts.scheme}${user}${parts.address}${pairs === undefined ? '' : `?${pairs.join('&')}`}${parts.fragment}`;
}

function splitPair(pair: string, back: (part: string) => string): { key: string; value: string } {
  const at = pair.indexOf('=');
  return at <= 0 ? { key: '', value: back(pair) } : { key: back(pair.slice(0, at)), value: back(pair.slice(at + 1)) };
}
