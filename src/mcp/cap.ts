/**
 * The cap of tool results: 1 MiB of payload (contract: tool names and results).
 *
 * Payload is the UTF-8 of every text block's `text` and of the `data` or `blob` of binary blocks as sent, and the JSON of
 * every other block, of `structuredContent` and of `_meta`. What the cap itself writes (marker, notes in place of
 * blocks) is not payload: `total` and `kept` speak of what the server sent and nothing else.
 */
import { canonicalJson } from '../canonical.ts';
import type { RawResult } from './connection.ts';
import { utf8Length, utf8Prefix } from './utf8.ts';

export const RESULT_LIMIT = 1_048_576;

/** So that thousands of blocks that do not fit cannot become thousands of notes; further ones go without. */
const NOTES_MAX = 16;

export interface CapOptions {
  /** The tool declares an output schema: clients reject a result whose `structuredContent` is missing, unless it is an error. */
  readonly hasOutputSchema: boolean;
  /** Bytes of payload; 1 MiB unless a test says otherwise. */
  readonly limit?: number;
}

export interface Capped {
  /** The very object that came in, if it fits. */
  readonly result: RawResult;
  /** Bytes of payload as received. */
  readonly total: number;
  /** Bytes of it that are in `result`. */
  readonly kept: number;
  readonly truncated: boolean;
}

/** Cuts a result down to the limit; error results too. Never throws, whatever the server sent in place of blocks. */
export function capResult(result: RawResult, { hasOutputSchema, limit = RESULT_LIMIT }: CapOptions): Capped {
  const blocks = blocksOf(result);
  const sizes = blocks.map(payloadOf);
  const metaSize = jsonSize(result._meta);
  const structuredSize = jsonSize(result.structuredContent);
  const total = sizes.reduce((sum, size) => sum + size, metaSize + structuredSize);
  if (total <= limit) return { result, total, kept: total, truncated: false };

  let left = limit;
  const take = (size: number): boolean => {
    if (size > left) return false;
    left -= size;
    return true;
  };

  const keepMeta = take(metaSize);
  const content: unknown[] = [];
  let crossed = false;
  let notes = 0;
  let lastText = -1;
  let lastNote = -1;
  blocks.forEach((block, index) => {
    const size = sizes[index] ?? 0;
    if (isText(block)) {
      if (crossed) return;
      crossed = size > left;
      const text = crossed ? utf8Prefix(block.text, left) : block.text;
      if (crossed && text === '') return;
      take(crossed ? utf8Length(text) : size);
      lastText = content.push(crossed ? { ...block, text } : block) - 1;
      return;
    }
    if (take(size)) {
      content.push(block);
      return;
    }
    crossed = true;
    if (notes === NOTES_MAX) return;
    notes += 1;
    lastNote = content.push(noteFor(block, size)) - 1;
  });
  const keepStructured = take(structuredSize);

  const kept = limit - left;
  mark(content, lastText >= 0 ? lastText : lastNote, `[mcp output truncated: ${total} bytes total, ${kept} kept]`);
  const { _meta, structuredContent, ...rest } = result;
  return {
    result: {
      ...rest,
      content,
      ...(keepMeta && _meta !== undefined && { _meta }),
      ...(keepStructured && structuredContent !== undefined && { structuredContent }),
      ...(!keepStructured && hasOutputSchema && { isError: true }),
    },
    total,
    kept,
    truncated: true,
  };
}

interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

/** Content that is not a list is looked at as one block, so that it cannot slip past the cap. */
function blocksOf({ content }: RawResult): readonly unknown[] {
  if (content === undefined) return [];
  return Array.isArray(content) ? content : [content];
}

/** The marker ends the last text the server sent; without one it ends our last note, or stands alone at the end. */
function mark(content: unknown[], at: number, marker: string): void {
  const block = content[at];
  if (isText(block)) content[at] = { ...block, text: `${block.text}\n\n${marker}` };
  else content.push({ type: 'text', text: marker });
}

function payloadOf(block: unknown): number {
  if (isText(block)) return utf8Length(block.text);
  const bytes = binaryOf(block);
  return bytes === undefined ? jsonSize(block) : utf8Length(bytes);
}

/** The base64 of an image, a sound or an embedded binary resource. */
function binaryOf(block: unknown): string | undefined {
  if (!isMembers(block)) return undefined;
  if (block.type === 'image' || block.type === 'audio') return typeof block.data === 'string' ? block.data : undefined;
  const { resource } = block;
  if (block.type !== 'resource' || !isMembers(resource)) return undefined;
  // With text beside it the blob is not all there is, and the whole block counts.
  return typeof resource.blob === 'string' && resource.text === undefined ? resource.blob : undefined;
}

function noteFor(block: unknown, size: number): TextBlock {
  const members = isMembers(block) ? block : {};
  const { resource } = members;
  const mimeType = label(members.mimeType) || label(isMembers(resource) ? resource.mimeType : undefined);
  const type = label(members.type) || 'content';
  return {
    type: 'text',
    text: `[${mimeType ? `${type} ${mimeType}` : type} of ${size} bytes left out: it does not fit into the result]`,
  };
}

/** A server's own word inside a note: short, on one line, and unable to end the bracket. */
function label(word: unknown): string {
  return typeof word === 'string' ? word.slice(0, 60).replace(/[^\w/+.;=-]/g, '?') : '';
}

function jsonSize(value: unknown): number {
  if (value === undefined) return 0;
  try {
    return utf8Length(JSON.stringify(value));
  } catch {
    // Too deep for the built-in writer. Sorting keys does not change the length.
    return utf8Length(canonicalJson(value));
  }
}

function isText(block: unknown): block is TextBlock {
  return isMembers(block) && block.type === 'text' && typeof block.text === 'string';
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
