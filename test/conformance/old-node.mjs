/**
 * Lets the conformance suite start on Node 20: it imports `globSync` from `node:fs`, which came with Node 22, for a
 * command that is not used here. Loaded with `--import` for the suite alone.
 */
import { register } from 'node:module';

const replacement = `data:text/javascript,${encodeURIComponent(
  "export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => [];",
)}`;

const hooks = `
export async function resolve(specifier, context, next) {
  const fromSuite = context.parentURL?.includes('/@modelcontextprotocol/conformance/') ?? false;
  if (fromSuite && (specifier === 'fs' || specifier === 'node:fs'))
    return { url: ${JSON.stringify(replacement)}, shortCircuit: true };
  return next(specifier, context);
}`;

if (Number(process.versions.node.split('.', 1)[0]) < 22)
  register(`data:text/javascript,${encodeURIComponent(hooks)}`, import.meta.url);
