/** Secrets in an address: the password in front of `@`, and parameters whose names speak of one. Pure. */
import { speaksOfSecret } from '../config/secrets.ts';
import { joinUrl, splitUrl } from '../config/url-parts.ts';

/**
 * The address with every secret in it changed; `change` is told the parameter's name, `password` for the one in front of
 * `@`. Everything else keeps its characters. Percent signs stay as written: a variable is filled in as it stands.
 */
export function changeUrlSecrets(text: string, change: (name: string, secret: string) => string): string {
  const parts = splitUrl(text);
  if (parts === null) return text;
  return joinUrl({
    ...parts,
    user: parts.user === null ? null : parts.user.map((part, n) => (n === 0 ? part : change('password', part))),
    query:
      parts.query?.map(({ key, value }) => ({ key, value: speaksOfSecret(key) ? change(key, value) : value })) ?? null,
  });
}

/** Names of the parameters that hold a secret. */
export function urlSecretNames(text: string, isLiteral: (value: string) => boolean): string[] {
  const names: string[] = [];
  changeUrlSecrets(text, (name, secret) => {
    if (isLiteral(secret)) names.push(name);
    return secret;
  });
  return names;
}

export const isAddress = (text: string): boolean => /^https?:\/\//i.test(text);
