/** What is kept of a value that came over the wire: the same shape, with everything secret in it masked. Pure. */

const MASK = '***';
/** No server nests this deep on purpose. */
const DEEPEST = 200;
/** A shorter text cannot hold a secret that is worth masking. */
const SHORTEST = 3;

/**
 * Names whose text is a credential whoever wrote it. Narrower than what counts for a configuration entry: tools speak of
 * keys and tokens of all kinds, and `progressToken` belongs to the protocol.
 */
const CREDENTIAL =
  /^token$|(?:access|refresh|id|auth|bearer|session|api|security|csrf|xsrf|oauth|personal|bot)token$|password|passwd|passphrase|^pwd$|secret$|api_?key$|(?:access|private|secret|signing|encryption)key$|authorization$|^(?:set)?cookie$|credentials?$/;

const speaksOfCredential = (key: string): boolean => CREDENTIAL.test(key.toLowerCase().replace(/[-_ .]/g, ''));

/** A copy of a JSON value in which `redact` has seen every text and texts of credentials by name are `***`. */
export function maskValue(value: unknown, redact: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return value.length < SHORTEST ? value : redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST) return null;
  if (Array.isArray(value)) return value.map((item) => maskValue(item, redact, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key.length < SHORTEST ? key : redact(key),
      typeof member === 'string' && member !== '' && speaksOfCredential(key)
        ? MASK
        : maskValue(member, redact, depth + 1),
    ]),
  );
}

/** A text that may be JSON: masked inside, so that it stays what it was. */
export function maskText(text: string, redact: (text: string) => string): string {
  if (/^\s*[{[]/.test(text)) {
    try {
      return JSON.stringify(maskValue(JSON.parse(text), redact));
    } catch {
      // Only looks like it.
    }
  }
  return redact(text);
}
