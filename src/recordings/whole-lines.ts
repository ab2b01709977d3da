/** Bytes of a stream as whole lines: half a line could hold half a secret, which nobody would recognise. */

const LF = 0x0a;
/** What is kept of one line. */
const LONGEST_BYTES = 8_192;
/** Looked at besides, so that a secret that the cut would halve is masked first. */
const MARGIN_BYTES = 8_192;

export class WholeLines {
  #pending: Buffer[] = [];
  #size = 0;

  /** The lines that are complete now, masked and cut, each with its line break. */
  push(chunk: Buffer, redact: (text: string) => string): string {
    let text = '';
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#keep(chunk.subarray(start, end));
      text += `${this.rest(redact)}\n`;
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return text;
  }

  /** What came after the last line break, masked; it is forgotten. */
  rest(redact: (text: string) => string): string {
    const masked = redact(Buffer.concat(this.#pending).toString('utf8'));
    this.#pending = [];
    this.#size = 0;
    return masked.length > LONGEST_BYTES ? `${masked.slice(0, LONGEST_BYTES)}…` : masked;
  }

  #keep(part: Buffer): void {
    const room = LONGEST_BYTES + MARGIN_BYTES - this.#size;
    if (part.length === 0 || room <= 0) return;
    const kept = Buffer.from(part.subarray(0, room));
    this.#pending.push(kept);
    this.#size += kept.length;
  }
}
