/** The one-word rule for `Authorization`, taken over from the model project and mended. Pure. */

/**
 * Puts `Bearer ` in front of a value that is one word. `values`: what variables gave to it; when one of them is empty
 * (`Bearer ${TOKEN}` without a token leaves the single word `Bearer`) the value is left as it is.
 */
export function withScheme(value: string, values: readonly string[]): string {
  const oneWord = value !== '' && !/\s/.test(value);
  const given = values.every((part) => part.trim() !== '');
  return oneWord && given && value.toLowerCase() !== 'bearer' ? `Bearer ${value}` : value;
}

/** `Basic` credentials from the user info of a URL, percent-decoded. */
export function basicFrom(user: string, password: string): string {
  const bytes = new TextEncoder().encode(`${decode(user)}:${decode(password)}`);
  return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}`;
}

/** Percent-decoded, or as it is when it is not valid percent-encoding. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
