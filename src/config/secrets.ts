/** Which texts of an entry may be secret, and which are worth hiding. Pure. */

const speaks = /key|token|secret|passw|passphrase|pwd|credential/i;

/** Whether a name (of a flag, a variable, a key) speaks of something secret. */
export const speaksOfSecret = (name: string): boolean => speaks.test(name) || /authorization/i.test(name);

/** `--flag`, `-f`: what follows a flag of a secret is its value unless it looks like this. */
const plainFlag = /^(?:-[A-Za-z]|--[a-z]+(?:-[a-z]+)*)(?:=.*)?$/;
/** `--api-key=X`, `API_KEY=X`, `Authorization: X`. */
const assignment = /^(-{0,2}[A-Za-z_][\w.-]*\s*[=:]\s*)(?=\S)/;

/**
 * Where the secret part of each argument begins: 0 for the whole argument, null when there is none.
 * Secret is what follows a flag that speaks of a secret, as the next argument or after `=`, and the right side of a
 * variable or header that does.
 */
export function secretStarts(args: readonly string[]): readonly (number | null)[] {
  return args.map((arg, index) => {
    const [, left] = assignment.exec(arg) ?? [];
    if (left !== undefined && speaksOfSecret(left) && !arg.startsWith('//', left.length)) return left.length;
    const before = args[index - 1];
    const follows = before !== undefined && /^-[^=]*$/.test(before) && speaksOfSecret(before);
    return follows && !plainFlag.test(arg) ? 0 : null;
  });
}

const common = new Set(
  (
    'true false null none undefined yes no on off auto default enabled disabled trace debug info notice warn warning error fatal silent ' +
    'quiet verbose production development staging test local localhost 127.0.0.1 0.0.0.0 utf-8 utf8 c.utf-8 en_us.utf-8 bearer basic stdio http https json text ' +
    'application/json text/event-stream'
  ).split(' '),
);

/**
 * Whether hiding every occurrence of a value helps more than it harms: values below four characters, small numbers
 * and words that any text may hold are left out.
 */
export const worthHiding = (value: string): boolean =>
  value.length >= 4 && !/^\d{1,5}$/.test(value) && !common.has(value.toLowerCase());

/** The distinct values worth hiding, longest first, so that a value that holds another is hidden whole. */
export const secretList = (values: Iterable<string>): readonly string[] =>
  [...new Set(values)].filter(worthHiding).sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
