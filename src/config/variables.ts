/** `watchkeeper.env`: `KEY=VALUE` lines that placeholders may use. */
import { stat } from 'node:fs/promises';
import { readText } from './files.ts';

export interface VariablesFile {
  readonly values: Readonly<Record<string, string>>;
  /** Name lines by number, never their text. */
  readonly warnings: readonly string[];
}

/**
 * Reads the text. `#` begins a comment at the start of a line or after a space behind an unquoted value; `export` in
 * front is allowed; single quotes hold everything as it is; double quotes know `\n`, `\r`, `\t`, `\"`, `\\` and `\$`.
 * Nothing is expanded. Pure.
 */
export function parseVariables(text: string): VariablesFile {
  const values = new Map<string, string>();
  const warnings: string[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const [, name, rest] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)$/.exec(line) ?? [];
    const value = rest === undefined ? null : valueIn(rest.trim());
    if (name === undefined || value === null) {
      warnings.push(`line ${index + 1} is not KEY=VALUE and is ignored`);
      continue;
    }
    if (values.has(name)) warnings.push(`line ${index + 1} sets ${name} again; the last one counts`);
    values.set(name, value);
  }
  return { values: Object.fromEntries(values), warnings };
}

/** null: a quote is not closed, or something follows it. */
function valueIn(text: string): string | null {
  if (text.startsWith("'")) return /^'([^']*)'\s*(?:#.*)?$/.exec(text)?.[1] ?? null;
  if (text.startsWith('"')) {
    const inner = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(text)?.[1];
    return inner?.replace(/\\(.)/g, (whole, sign: string) => escapes[sign] ?? whole) ?? null;
  }
  return text.replace(/(?:^|\s+)#.*$/, '');
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' };

/** What to say when others may read the file; null when only its owner may, and on Windows. Pure. */
export function modeWarning(file: string, mode: number, platform: string): string | null {
  if (platform === 'win32' || (mode & 0o077) === 0) return null;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  return `${file} can be read or written by others (mode ${shown}); run: chmod 600 ${file}`;
}

/** Reads the file; no file means no variables. Rejects with a FileError when it cannot be read. */
export async function readVariables(file: string): Promise<VariablesFile> {
  const text = await readText(file);
  if (text === null) return { values: {}, warnings: [] };
  const { values, warnings } = parseVariables(text);
  const open = modeWarning(file, (await stat(file)).mode, process.platform);
  return { values, warnings: [...(open === null ? [] : [open]), ...warnings.map((warning) => `${file}: ${warning}`)] };
}
