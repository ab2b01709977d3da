/**
 * `${VAR}`, `$VAR`, `${VAR:-default}` and `$$` in the texts of an entry. Pure.
 *
 * A default is used when the variable is unset or empty, as in a shell, and may hold placeholders itself.
 * A value that was put in is never looked at again. A `$` that starts no name stays.
 */

/** Value of a variable; undefined when it is not set. */
export type Lookup = (name: string) => string | undefined;

/** A piece of a text; `written` pieces joined give the text back. */
export type Segment =
  | { readonly kind: 'literal'; readonly written: string; readonly text: string }
  | {
      readonly kind: 'variable';
      readonly written: string;
      readonly name: string;
      /** null: no default was written. */
      readonly fallback: readonly Segment[] | null;
    };

export type ExpandFault =
  | { readonly kind: 'unset'; readonly variable: string }
  /** `${` without `}`. */
  | { readonly kind: 'unclosed' }
  /** `${…}` that does not hold a name, or nested too deep to be meant. */
  | { readonly kind: 'not-a-name' };

export type Expansion =
  | {
      readonly ok: true;
      readonly text: string;
      /** Values that were put in, in order; defaults are not among them. */
      readonly values: readonly string[];
    }
  | { readonly ok: false; readonly fault: ExpandFault };

export type Scan =
  | { readonly ok: true; readonly segments: readonly Segment[] }
  | { readonly ok: false; readonly fault: ExpandFault };

const deepest = 20;

class Fault extends Error {
  constructor(readonly fault: ExpandFault) {
    super(fault.kind);
  }
}

/** Takes a text apart into literals and placeholders. */
export function scan(text: string): Scan {
  // Most texts hold none, and every start of a server looks at all of them.
  if (!text.includes('$')) return { ok: true, segments: text === '' ? [] : [{ kind: 'literal', written: text, text }] };
  try {
    return { ok: true, segments: scanFrom(text, 0, 0).segments };
  } catch (error) {
    if (error instanceof Fault) return { ok: false, fault: error.fault };
    throw error;
  }
}

/** Puts the values of variables into a text. */
export function expand(text: string, lookup: Lookup): Expansion {
  const values: string[] = [];
  const fill = (segments: readonly Segment[]): string =>
    segments
      .map((segment) => {
        if (segment.kind === 'literal') return segment.text;
        const value = lookup(segment.name);
        if (segment.fallback !== null && (value === undefined || value === '')) return fill(segment.fallback);
        if (value === undefined) throw new Fault({ kind: 'unset', variable: segment.name });
        values.push(value);
        return value;
      })
      .join('');
  const scanned = scan(text);
  if (!scanned.ok) return scanned;
  try {
    return { ok: true, text: fill(scanned.segments), values };
  } catch (error) {
    if (error instanceof Fault) return { ok: false, fault: error.fault };
    throw error;
  }
}

/** Asks one source after the other; only own members count, so that `constructor` is not a variable. */
export const lookupIn =
  (...sources: readonly Readonly<Record<string, string | undefined>>[]): Lookup =>
  (name) => {
    for (const source of sources) if (Object.hasOwn(source, name) && source[name] !== undefined) return source[name];
    return undefined;
  };

/** Reads up to the end, or, inside a default (`depth` above 0), up to the `}` that closes it. */
function scanFrom(text: string, from: number, depth: number): { segments: Segment[]; end: number } {
  if (depth > deepest) throw new Fault({ kind: 'not-a-name' });
  const segments: Segment[] = [];
  let literal = { written: '', text: '' };
  const flush = (): void => {
    if (literal.written !== '') segments.push({ kind: 'literal', ...literal });
    literal = { written: '', text: '' };
  };
  let at = from;
  while (at < text.length) {
    const char = text.charAt(at);
    if (depth > 0 && char === '}') {
      flush();
      return { segments, end: at };
    }
    const variable = char === '$' ? variableAt(text, at, depth) : null;
    if (variable !== null) {
      flush();
      segments.push(variable);
      at += variable.written.length;
      continue;
    }
    const written = char === '$' && text.charAt(at + 1) === '$' ? '$$' : char;
    literal = { written: literal.written + written, text: literal.text + char };
    at += written.length;
  }
  if (depth > 0) throw new Fault({ kind: 'unclosed' });
  flush();
  return { segments, end: at };
}

function variableAt(text: string, at: number, depth: number): Extract<Segment, { kind: 'variable' }> | null {
  const rest = text.slice(at + 1);
  if (!rest.startsWith('{')) {
    const name = /^[A-Za-z_][A-Za-z0-9_]*/.exec(rest)?.[0];
    return name === undefined ? null : { kind: 'variable', written: `$${name}`, name, fallback: null };
  }
  const [, name, sign] = /^\{([A-Za-z_][A-Za-z0-9_]*)(\}|:-)/.exec(rest) ?? [];
  if (name === undefined) throw new Fault({ kind: rest.includes('}') ? 'not-a-name' : 'unclosed' });
  if (sign === '}') return { kind: 'variable', written: `\${${name}}`, name, fallback: null };
  const { segments, end } = scanFrom(text, at + 2 + name.length + 2, depth + 1);
  return { kind: 'variable', written: text.slice(at, end + 1), name, fallback: segments };
}
