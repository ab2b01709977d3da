/** Which tool a person means. Pure. */
import type { Tool } from '../api/client.ts';
import { CommandError, usedWrongly } from './failure.ts';
import { didYouMean, nearest } from './suggest.ts';

/**
 * Finds a tool by its registered name, by `server.tool`, or by its own name when only one server has it.
 * A registered name that is not listed may still be known to the daemon and comes back without a tool.
 */
export function findTool(
  word: string,
  tools: readonly Tool[],
): { readonly name: string; readonly tool: Tool | undefined } {
  const registered = tools.find(({ name }) => name === word);
  if (registered) return { name: word, tool: registered };
  const dot = word.indexOf('.');
  const dotted = tools.find(
    ({ server, tool }) => dot > 0 && server === word.slice(0, dot) && tool === word.slice(dot + 1),
  );
  if (dotted) return { name: dotted.name, tool: dotted };
  const own = tools.filter(({ tool }) => tool === word);
  if (own.length > 1) {
    throw usedWrongly(`${own.length} servers have a tool "${word}".`, ...own.map(({ name }) => `call ${name}`));
  }
  if (own[0]) return { name: own[0].name, tool: own[0] };
  const [, server] = /^mcp__(.+?)__/.exec(word) ?? [];
  if (server !== undefined && !tools.some((tool) => tool.server === server)) return { name: word, tool: undefined };
  throw unknownTool(word, tools);
}

/** The error for a tool that nobody has, with near names in the form that was typed. */
export function unknownTool(word: string, tools: readonly Tool[]): CommandError {
  const names = tools.flatMap(({ name, server, tool }) => {
    if (word.startsWith('mcp__')) return [name];
    return word.includes('.') ? [`${server}.${tool}`] : [tool];
  });
  const near = nearest(word, names)[0];
  return new CommandError(`There is no tool "${word}".${didYouMean(word, names)}`, {
    next: [near === undefined ? 'tools' : `call ${near}`],
  });
}
