/** The last bytes of a stream, however much goes through it. */

/** What is kept and shown of a process's stderr (contract: 4 KiB). */
export const TAIL_BYTES = 4096;
/** Kept besides, so that a secret that the cut would halve is still seen whole and masked. */
const MARGIN_BYTES = 4096;

export class Tail {
  readonly #ring = Buffer.alloc(TAIL_BYTES + MARGIN_BYTES);
  #written = 0;

  push(chunk: Buffer): void {
    const size = this.#ring.length;
    const part = chunk.length > size ? chunk.subarray(chunk.length - size) : chunk;
    this.#written += chunk.length - part.length;
    const at = this.#written % size;
    const first = part.subarray(0, size - at);
    first.copy(this.#ring, at);
    part.subarray(first.length).copy(this.#ring, 0);
    this.#written += part.length;
  }

  /** At most 4 KiB of masked UTF-8 text that begins at a character. */
  text(redact: (text: string) => string): string {
    const size = this.#ring.length;
    const at = this.#written % size;
    const bytes =
      this.#written <= size
        ? this.#ring.subarray(0, this.#written)
        : Buffer.concat([this.#ring.subarray(at), this.#ring.subarray(0, at)]);
    return lastBytes(redact(fromCharacter(bytes).toString('utf8')), TAIL_BYTES);
  }
}

function lastBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text, 'utf8');
  return bytes.length <= limit ? text : fromCharacter(bytes.subarray(bytes.length - limit)).toString('utf8');
}

/** Without the continuation bytes of a character whose beginning is gone. */
function fromCharacter(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}
