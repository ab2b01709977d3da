/** Server-sent events, as the HTML standard defines the stream ("Interpreting an event stream"). */
import { LineSplitter, LineTooLong } from './lines.ts';

export interface SseEvent {
  /** `message` unless the stream says otherwise. */
  readonly type: string;
  readonly data: string;
}

const COLON = 0x3a;
const SPACE = 0x20;

export class SseParser {
  /** The last `id` seen; sent as Last-Event-ID to go on where the stream broke off. */
  lastEventId: string | undefined;
  /** The pause the server asked for before the stream is opened again, in milliseconds. */
  retryMs: number | undefined;

  readonly #lines: LineSplitter;
  #data: string[] = [];
  #size = 0;
  #type = '';
  #first = true;

  /** `limit`: bytes of one event. */
  constructor(readonly limit: number) {
    this.#lines = new LineSplitter(limit, true);
  }

  /** Throws `LineTooLong` when an event is larger than the limit. */
  push(chunk: Buffer, onEvent: (event: SseEvent) => void): void {
    this.#lines.push(chunk, (line) => {
      if (line.length === 0) {
        this.#dispatch(onEvent);
      } else {
        this.#field(line);
      }
      this.#first = false;
    });
  }

  #dispatch(onEvent: (event: SseEvent) => void): void {
    const event = { type: this.#type || 'message', data: this.#data.join('\n') };
    const empty = this.#data.length === 0;
    this.#data = [];
    this.#size = 0;
    this.#type = '';
    if (!empty) onEvent(event);
  }

  #field(raw: Buffer): void {
    const line = this.#first && raw[0] === 0xef && raw[1] === 0xbb && raw[2] === 0xbf ? raw.subarray(3) : raw;
    const colon = line.indexOf(COLON);
    if (colon === 0) return; // a comment
    const name = line.toString('utf8', 0, colon === -1 ? line.length : colon);
    const from = colon === -1 ? line.length : line[colon + 1] === SPACE ? colon + 2 : colon + 1;
    const value = line.toString('utf8', from);
    if (name === 'data') {
      this.#size += line.length;
      if (this.#size > this.limit) throw new LineTooLong(this.limit);
      this.#data.push(value);
    } else if (name === 'event') this.#type = value;
    else if (name === 'id' && !value.includes('\0')) this.lastEventId = value;
    else if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
  }
}
