/** Addresses that logins come back to. Pure. */

/** The names under which the listener answers. */
const here = new Set(['localhost', '127.0.0.1', '[::1]']);

export const usualRedirect = (port: number): string => `http://localhost:${port}/callback`;

/** null when an address can be one to come back to: http, this machine, a port of its own; else what is wrong with it. */
export function redirectFault(text: string): string | null {
  if (!URL.canParse(text) || /[\s\u0000-\u001f\u007f\\]/.test(text)) return 'is not an address';
  const url = new URL(text);
  if (url.protocol !== 'http:') return 'must begin with http:';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  if (!here.has(url.hostname)) return 'must lead to this machine: localhost, 127.0.0.1 or [::1]';
  // Port 80 is left out of a parsed URL, and nothing of ours could listen there.
  if (url.port === '' || url.port === '0') return 'must name its port';
  if (url.hash !== '') return 'must not hold a fragment';
  return null;
}
