/** The older HTTP+SSE transport as a channel (specification 2024-11-05): answers come on one long stream. */
import type { Channel, SendOptions } from './channel.ts';
import { type Exchanger, type Headers, mediaType } from './exchange.ts';
import { Fault, type Observation } from './failure.ts';
import { type Message, messagesIn } from './message.ts';
import { LINE_LIMIT } from './process.ts';
import { readEvents } from './sse-body.ts';
import { codeOfFault, overheard } from './tap.http.ts';
import { Tap } from './tap.ts';

export class LegacySseChannel implements Channel {
  readonly breaksOff = true;
  onmessage: (message: Message) => void = () => {};
  onend: (reason: Observation) => void = () => {};
  protocolVersion: string | undefined;

  readonly #tap: Tap;
  readonly #http: Exchanger;
  #endpoint: URL | null = null;
  #closed = false;

  constructor(http: Exchanger, tap = new Tap()) {
    this.#http = http;
    this.#tap = tap;
  }

  get target(): string {
    return this.#http.target;
  }

  /** Opens the stream and resolves when the server has said where to post. */
  async start(): Promise<void> {
    const x = this.#tap.exchange();
    this.#tap.ear?.({ is: 'push', x });
    const answer = await overheard(this.#tap, x, this.#http.send('GET', { accept: 'text/event-stream' }, null));
    if (mediaType(answer) !== 'text/event-stream') {
      answer.body.destroy();
      throw new Fault({ seen: 'unparsable', detail: `${this.target} answered GET without an event stream` }, false);
    }
    await new Promise<void>((resolve, reject) => {
      const reading = readEvents(
        answer,
        LINE_LIMIT,
        (data) => this.#deliver(data, x),
        ({ type, data }) => {
          if (type !== 'endpoint' || this.#endpoint !== null) return;
          this.#endpoint = this.#http.resolve(data.trim());
          if (this.#endpoint !== null) return resolve();
          reject(
            new Fault({ seen: 'unparsable', detail: `${this.target} named an endpoint on another server` }, false),
          );
          answer.body.destroy();
        },
      );
      void reading.then(({ fault }) => {
        this.#tap.ear?.({ is: 'ended', x, code: codeOfFault(fault) });
        const reason: Observation = fault?.observation ?? { seen: 'stream-ended', target: this.target };
        reject(new Fault(reason, false));
        if (!this.#closed && this.#endpoint !== null) this.onend(reason);
      });
    });
  }

  async send(message: Message, options: SendOptions = {}): Promise<void> {
    if (this.#endpoint === null || this.#closed) throw new Fault({ seen: 'stream-ended', target: this.target }, false);
    const headers: Headers = {
      ...options.headers,
      'content-type': 'application/json',
      ...(this.protocolVersion === undefined ? {} : { 'mcp-protocol-version': this.protocolVersion }),
    };
    const x = this.#tap.exchange();
    this.#tap.ear?.({ is: 'out', message, x });
    const { body } = await overheard(
      this.#tap,
      x,
      this.#http.send('POST', headers, JSON.stringify(message), options.signal, this.#endpoint),
    );
    body.resume();
  }

  async close(): Promise<void> {
    if (!this.#closed) this.#tap.close();
    this.#closed = true;
    this.#http.close();
  }

  #deliver(text: string, x: number): void {
    try {
      for (const message of messagesIn(JSON.parse(text)) ?? []) {
        this.#tap.ear?.({ is: 'in', message, x });
        this.onmessage(message);
      }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
}
