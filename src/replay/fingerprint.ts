/** Which failures are the same one: what changes from one time to the next is taken out of the message. Pure. */
import type { Failure } from '../events/shapes.ts';

const LONGEST = 300;

/**
 * In order: what contains another pattern comes before it. Every repetition is bounded or cannot overlap with its
 * neighbour, since the text comes from a server.
 */
const changing: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?/g, '<time>'],
  [/\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?\b/g, '<time>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b0x[0-9a-f]{1,64}\b/gi, '<hex>'],
  [/\b(?=[0-9a-f]{0,63}\d)(?=[0-9a-f]{0,63}[a-f])[0-9a-f]{8,64}\b/gi, '<hex>'],
  [/(?<![\w/:.])(?:[a-z]:)?(?:[/\\][\w.@%+~-]{1,255}){2,64}[/\\]?/gi, '<path>'],
  // Ids are runs of letters and digits mixed: words have no digit in the middle.
  [/\b(?=[A-Za-z_-]{0,63}\d)(?=[\d_-]{0,63}[A-Za-z])[A-Za-z0-9_-]{16,128}\b/g, '<id>'],
  [/(?<![A-Za-z\d])\d+(?:[.,]\d+)*/g, '<n>'],
];

/** A message without numbers, ids, paths, times, hexadecimal digits and UUIDs; at most 300 characters. */
export function normalised(message: string): string {
  const plain = message
    .slice(0, 4 * LONGEST)
    .replace(/\s+/g, ' ')
    .trim();
  return changing.reduce((text, [pattern, word]) => text.replace(pattern, word), plain).slice(0, LONGEST);
}

/** What two failures must share to count as the same. */
export interface Fingerprint {
  /** Eight hexadecimal digits over all that follows. */
  readonly id: string;
  readonly phase: Failure['phase'];
  readonly class: Failure['class'];
  /** `exit 1`, `SIGKILL`, `HTTP 404`: numbers that tell failures apart, which a message may not even hold. */
  readonly code: string | null;
  readonly message: string;
}

/** Failures of one phase, class, code and normalised message have one fingerprint. */
export function fingerprintOf(failure: Failure): Fingerprint {
  const { phase, class: kind, message } = failure;
  const code = codeOf(failure);
  const text = normalised(message);
  return { id: hash([phase, kind, code ?? '', text].join('\n')), phase, class: kind, code, message: text };
}

function codeOf({ exitCode, signal, httpStatus }: Failure): string | null {
  if (signal) return signal;
  if (exitCode !== undefined && exitCode !== null) return `exit ${exitCode}`;
  return httpStatus === undefined || httpStatus === null ? null : `HTTP ${httpStatus}`;
}

/** FNV-1a over 32 bits: a name to recognise something by, not a seal. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, '0');
}
