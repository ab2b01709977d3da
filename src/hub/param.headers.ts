/** The server's half of `x-mcp-header` (2026-07-28): arguments that headers must repeat. Pure. */
import { isObject } from '../mcp/message.ts';
import { paramHeaders } from '../mcp/param-headers.ts';
import { decodeHeader } from './header.value.ts';
import type { Members } from './rpc.ts';

/** What is wrong with the headers of one call, or null. A header for an argument that is absent or null is not looked at. */
export function paramHeaderProblem(
  inputSchema: unknown,
  args: Members,
  header: (name: string) => string | undefined,
): string | null {
  const marks = paramHeaders(inputSchema);
  if ('invalid' in marks) return null;
  for (const { path, header: name } of marks.mirrors) {
    const value = path.reduce<unknown>(
      (node, key) => (isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined),
      args,
    );
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
    const given = header(`mcp-param-${name.toLowerCase()}`);
    if (given === undefined)
      return `The header Mcp-Param-${name} is missing; it repeats the argument ${path.join('.')}.`;
    const decoded = decodeHeader(given.trim());
    if (decoded === null) return `The header Mcp-Param-${name} is not valid base64.`;
    const same = typeof value === 'number' ? Number(decoded) === value : decoded === String(value);
    if (!same) return `The argument ${path.join('.')} is not what Mcp-Param-${name} says.`;
  }
  return null;
}
