/** A tool's result for people: text as it is, everything else in a line. Pure. */
import { bytes } from './duration.ts';
import { harmless, oneLine } from './paint.ts';

type Block = Readonly<Record<string, unknown>>;

const word = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Bytes of what base64 stands for. */
const decoded = (data: string): number => Math.floor((data.replace(/=+$/, '').length * 3) / 4);

function summary(block: Block): string {
  const type = word(block.type) || 'block';
  const resource = typeof block.resource === 'object' && block.resource !== null ? (block.resource as Block) : block;
  const size =
    word(block.data) !== '' || word(resource.blob) !== ''
      ? bytes(decoded(word(block.data) || word(resource.blob)))
      : word(resource.text) !== ''
        ? bytes(new TextEncoder().encode(word(resource.text)).length)
        : '';
  const parts = [word(block.name), word(resource.uri), word(block.mimeType) || word(resource.mimeType), size];
  return `[${[type, ...parts.filter((part) => part !== '')].map(oneLine).join(' ')}]`;
}

/**
 * The blocks of a result, one after the other. `raw`: text goes out byte for byte, for a pipe; on a terminal it is made
 * harmless. Without any block the structured content is shown.
 */
export function contentText(
  result: { readonly content: readonly Block[]; readonly structuredContent?: unknown },
  raw: boolean,
): string {
  const clean = raw ? (text: string) => text : harmless;
  const shown = result.content.map((block) => (block.type === 'text' ? clean(word(block.text)) : summary(block)));
  if (shown.length === 0 && result.structuredContent !== undefined)
    shown.push(clean(JSON.stringify(result.structuredContent, null, 2)));
  return shown.map((text) => (text.endsWith('\n') || text === '' ? text : `${text}\n`)).join('');
}
