/** Counting and cutting text by its UTF-8 bytes. A lone surrogate counts as U+FFFD, which is what is sent for it. */

const encoder = new TextEncoder();
/** Written to and never read: encoding into one buffer counts without allocating. */
const scratch = new Uint8Array(65_536);

/** UTF-8 bytes of a text. */
export function utf8Length(text: string): number {
  let bytes = 0;
  let rest = text;
  while (rest !== '') {
    const { read, written } = encoder.encodeInto(rest, scratch);
    bytes += written;
    rest = rest.slice(read);
  }
  return bytes;
}

/** The longest beginning of a text that fits into `limit` UTF-8 bytes; never half a character. */
export function utf8Prefix(text: string, limit: number): string {
  let left = limit;
  let end = 0;
  while (left > 0 && end < text.length) {
    const room = scratch.subarray(0, Math.min(left, scratch.length));
    const { read, written } = encoder.encodeInto(text.slice(end), room);
    if (read === 0) break;
    end += read;
    left -= written;
  }
  return text.slice(0, end);
}
