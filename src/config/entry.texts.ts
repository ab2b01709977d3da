/** Rules for single texts of an entry. Pure. */
import type { EntryProblem } from './entry.ts';
import { scan } from './expand.ts';

/** A text without space around it; undefined when nothing is left, which counts as not set. */
export const textOf = (value: string | undefined): string | undefined => (value?.trim() ? value.trim() : undefined);

/** The only `auth` that means anything, in whatever letter case. */
export const isOauth = (auth: string | undefined): boolean => auth?.trim().toLowerCase() === 'oauth';

export const webAddressRule = 'url must be a whole address that begins with http:// or https://';

export function isWebAddress(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url);
}

/** The problem of a text whose placeholders cannot be read; null when they can. */
export function placeholderFault(field: string, text: string): EntryProblem | null {
  const scanned = scan(text);
  if (scanned.ok) return null;
  const what =
    scanned.fault.kind === 'unclosed'
      ? `has \`\${\` without a closing \`}\``
      : `has a \`\${…}\` that does not hold the name of a variable`;
  return { field, message: `${field} ${what}; for a literal dollar sign write \`$$\`` };
}
