/**
 * Arguments that a modern HTTP server wants repeated in headers: `x-mcp-header` in a tool's input schema
 * (specification 2026-07-28, Streamable HTTP, custom headers from tool parameters). Pure.
 */
import { isObject } from './message.ts';

interface Mirror {
  readonly path: readonly string[];
  readonly header: string;
}

export type ParamHeaders = { readonly mirrors: readonly Mirror[] } | { readonly invalid: string };

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES = new Set(['string', 'integer', 'boolean']);
/** Deeper schemas are not searched; annotations there cannot be honoured and are not seen either. */
const MAX_DEPTH = 64;

/** The mirrored parameters of a schema, or why its annotations break the rules; such a tool must not be offered. */
export function paramHeaders(inputSchema: unknown): ParamHeaders {
  const mirrors: Mirror[] = [];
  const names = new Set<string>();
  const visit = (node: unknown, path: readonly string[], reachable: boolean): string | null => {
    if (path.length > MAX_DEPTH || typeof node !== 'object' || node === null) return null;
    if (Array.isArray(node)) return firstFault(node, (item) => visit(item, [...path, ''], false));
    const schema = node as Record<string, unknown>;
    if (Object.hasOwn(schema, 'x-mcp-header')) {
      const header = schema['x-mcp-header'];
      const where = path.join('.') || 'the schema itself';
      if (!reachable || path.length === 0) return `${where}: only plain properties may carry x-mcp-header`;
      if (typeof header !== 'string' || !TOKEN.test(header)) return `${where}: x-mcp-header is not a header name`;
      if (!TYPES.has(String(schema.type))) return `${where}: x-mcp-header needs type string, integer or boolean`;
      if (names.has(header.toLowerCase())) return `${where}: x-mcp-header ${header} is used twice`;
      names.add(header.toLowerCase());
      mirrors.push({ path, header });
    }
    return firstFault(Object.entries(schema), ([keyword, value]) => {
      if (keyword === 'properties' && isObject(value)) {
        return firstFault(Object.entries(value), ([name, child]) => visit(child, [...path, name], reachable));
      }
      // Values that are data, not schemas.
      if (keyword === 'default' || keyword === 'examples' || keyword === 'enum' || keyword === 'const') return null;
      return visit(value, [...path, keyword], false);
    });
  };
  const invalid = visit(inputSchema, [], true);
  return invalid === null ? { mirrors } : { invalid };
}

/** The headers for one call. Absent, null and non-primitive arguments get none. */
export function headersForCall(
  mirrors: readonly Mirror[],
  args: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { path, header } of mirrors) {
    const value = path.reduce<unknown>(
      (node, key) => (isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined),
      args,
    );
    const text = asText(value);
    if (text !== null) headers[`mcp-param-${header.toLowerCase()}`] = headerValue(text);
  }
  return headers;
}

/** The value itself if it is plain ASCII without surrounding space, else its UTF-8 bytes in the specification's base64 wrapper. */
export function headerValue(text: string): string {
  const plain = /^[\t\x20-\x7e]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text);
  if (plain) return text;
  const bytes = new TextEncoder().encode(text);
  return `=?base64?${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}?=`;
}

function asText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)))
    return String(value);
  return null;
}

function firstFault<T>(items: readonly T[], check: (item: T) => string | null): string | null {
  for (const item of items) {
    const fault = check(item);
    if (fault !== null) return fault;
  }
  return null;
}
