/** Splits bytes into lines without copying what is pending again and again. */

export class LineTooLong extends Error {
  override readonly name = 'LineTooLong';
  constructor(readonly limit: number) {
    super(`a line is longer than ${Math.round(limit / 1_048_576)} MiB`);
  }
}

const LF = 0x0a;
const CR = 0x0d;

export class LineSplitter {
  #pending: Buffer[] = [];
  #size = 0;
  #afterCr = false;

  /**
   * `limit`: bytes of one line. `crEnds`: a lone CR ends a line too, as in event streams; otherwise a CR before the LF is
   * cut off and any other is part of the line.
   */
  constructor(
    readonly limit: number,
    readonly crEnds = false,
  ) {}

  /** Calls `onLine` for each line that is complete now. Throws `LineTooLong`; nothing sensible can follow then. */
  push(chunk: Buffer, onLine: (line: Buffer) => void): void {
    let start = 0;
    if (this.#afterCr && chunk.length > 0) {
      this.#afterCr = false;
      if (chunk[0] === LF) start = 1;
    }
    for (;;) {
      const end = this.#endOfLine(chunk, start);
      if (end === -1) break;
      onLine(this.#take(chunk.subarray(start, end)));
      start = end + 1;
      if (this.crEnds && chunk[end] === CR) {
        if (start < chunk.length) start += chunk[start] === LF ? 1 : 0;
        else this.#afterCr = true;
      }
    }
    if (start < chunk.length) {
      const rest = chunk.subarray(start);
      this.#size += rest.length;
      if (this.#size > this.limit) throw new LineTooLong(this.limit);
      this.#pending.push(rest);
    }
  }

  /** Bytes of the line that is not complete yet. */
  get pending(): number {
    return this.#size;
  }

  /** What came after the last end of line, and forgets it. */
  rest(): Buffer {
    return this.#take(Buffer.alloc(0));
  }

  #endOfLine(chunk: Buffer, from: number): number {
    const lf = chunk.indexOf(LF, from);
    if (!this.crEnds) return lf;
    const cr = chunk.subarray(0, lf === -1 ? chunk.length : lf).indexOf(CR, from);
    return cr === -1 ? lf : cr;
  }

  #take(last: Buffer): Buffer {
    if (this.#size + last.length > this.limit) throw new LineTooLong(this.limit);
    const line = this.#pending.length === 0 ? last : Buffer.concat([...this.#pending, last]);
    this.#pending = [];
    this.#size = 0;
    return !this.crEnds && line.at(-1) === CR ? line.subarray(0, -1) : line;
  }
}
