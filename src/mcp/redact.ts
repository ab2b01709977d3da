/** Masks secrets in text that came from a server or goes to a person. */

const MASK = '***';
/** A shorter value would mask half of every sentence and hide nothing. */
const SHORTEST_SECRET = 3;
/** Lines of a multi-line secret (a key file) are masked by themselves, since text is often shown line by line. */
const SHORTEST_LINE = 8;

/** What is longer is cut before it is searched: whoever reads it needs its beginning, and a server may send megabytes. */
const LONGEST_TEXT = 16_384;

/**
 * Things that look like credentials whoever wrote them. The first group, where there is one, is kept. Every repetition in
 * front of the telling part has a bound: without one, a long run of letters takes time with the square of its length.
 * The last member is what a match holds in any case, so that most long texts need no search.
 */
const patterns: readonly (readonly [pattern: RegExp, replacement: string, needs?: string])[] = [
  [
    /(\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest|dpop)\s+)?)[^\s"',;]+/gi,
    `$1${MASK}`,
  ],
  [/(\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}/gi, `$1${MASK}`],
  [/([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@"'<>]{1,1024}@/gi, `$1${MASK}@`, '://'],
  [
    /([?&;][^=&\s"'<>]{0,64}(?:token|key|secret|passw|auth|sig|credential|session|code)[^=&\s"'<>]{0,64}=)[^&\s"'<>#]+/gi,
    `$1${MASK}`,
    '=',
  ],
  [/(\b\w{0,64}(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|PRIVATE_?KEY)\w{0,64}=)[^\s"']+/g, `$1${MASK}`, '='],
  [/\bsk-[\w-]{8,}/g, MASK],
  [/\b(?:gh[pousr]_|github_pat_|glpat-|npm_|xox[abeoprs]-)[\w-]{10,}/g, MASK],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, MASK],
  [/\bAIza[\w-]{30,}/g, MASK],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, MASK],
];

/**
 * A function that masks, with `***`, every occurrence of each secret (as it is, URL-encoded, JSON-escaped, base64) and
 * whatever looks like a credential. Secrets below three characters are left alone.
 * `thoroughly`: for text that is kept. Nothing is cut, and a secret is also found in hexadecimal and inside base64 of more.
 */
export function redactor(secrets: readonly string[], thoroughly = false): (text: string) => string {
  const forms = [...new Set(secrets.flatMap((secret) => formsOf(secret, thoroughly ? hiddenForms : () => [])))].sort(
    (a, b) => b.length - a.length,
  );
  const known = forms.length === 0 ? null : new RegExp(forms.map(escapeForRegExp).join('|'), 'g');
  return (text) => {
    // Known secrets first and in all of the text, so that the cut leaves no half of one behind.
    const masked = known === null ? text : text.replace(known, MASK);
    const short = masked.length > LONGEST_TEXT && !thoroughly ? `${masked.slice(0, LONGEST_TEXT)}…` : masked;
    return patterns.reduce(
      (rest, [pattern, replacement, needed]) =>
        needed === undefined || rest.includes(needed) ? rest.replace(pattern, replacement) : rest,
      short,
    );
  };
}

/** As `redactor`, for secrets that come and go: `changing` gives the very same list until it changes. */
export function changingRedactor(
  secrets: readonly string[],
  changing: () => readonly string[],
  thoroughly = false,
): (text: string) => string {
  let known = changing();
  let redact = redactor([...secrets, ...known], thoroughly);
  // What was valid a moment ago may still stand in an answer that is on its way.
  let before: readonly string[] = [];
  return (text) => {
    const now = changing();
    if (now !== known) {
      before = known;
      known = now;
      redact = redactor([...secrets, ...known, ...before], thoroughly);
    }
    return redact(text);
  };
}

/** The URL as it may be shown: without user info, query and fragment. */
export function bareUrl(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return 'the URL';
  }
}

function formsOf(secret: string, more: (value: string) => string[]): string[] {
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= SHORTEST_LINE);
  return [secret, secret.trim(), ...lines].flatMap((value) => {
    if (value.length < SHORTEST_SECRET) return [];
    const encoded = percentEncoded(value);
    return [
      value,
      encoded,
      encoded.replaceAll('%20', '+'),
      JSON.stringify(value).slice(1, -1),
      ...base64(value),
      ...more(value),
    ];
  });
}

function percentEncoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text; // half a surrogate pair has no UTF-8 form
  }
}

/** Both alphabets, with and without padding, and without the last character, which differs when more text follows. */
function base64(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  const padded = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  if (padded.length < 8) return [];
  const whole = padded.replace(/=+$/, '');
  return [padded, whole, whole.slice(0, -1)].flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}

/** Digits of its bytes, and base64 of a longer text that holds it, which begins at any of three places in a group. */
function hiddenForms(value: string): string[] {
  const bytes = new TextEncoder().encode(value);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const plain = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  const inside = [0, 1, 2].flatMap((before) => {
    const whole = btoa('\0'.repeat(before) + plain);
    const sure = whole.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return sure.length < 8 ? [] : [sure, sure.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [...(hex.length < 8 ? [] : [hex, hex.toUpperCase()]), ...inside];
}

const escapeForRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
