/** Values of `Mcp-Name` and `Mcp-Param-*` (2026-07-28): plain ASCII, or UTF-8 in a base64 wrapper. Pure. */

const WRAPPED = /^=\?base64\?(.*)\?=$/s;
const CANONICAL = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The text a header stands for; null when its wrapper holds no proper base64 or no UTF-8. */
export function decodeHeader(value: string): string | null {
  const wrapped = WRAPPED.exec(value)?.[1];
  if (wrapped === undefined) return value;
  if (!CANONICAL.test(wrapped)) return null;
  try {
    const bytes = Uint8Array.from(atob(wrapped), (character) => character.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
