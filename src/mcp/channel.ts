import type { Observation } from './failure.ts';
import type { Id, Message } from './message.ts';

/** What carries messages to one server and back. The SDK's transport interface, cut down and with faults that tell more. */
export interface Channel {
  /** Whether a message on its way can be broken off; a signal for each is not free. */
  readonly breaksOff: boolean;
  /** A message came. `over`: id of the request on whose own stream it came, where requests have streams. */
  onmessage: (message: Message, over?: Id) => void;
  /** The channel is at its end and says why. Once, and not after `close`. */
  onend: (reason: Observation) => void;
  /** Rejects with a `Fault`. */
  start(): Promise<void>;
  /** Resolves when the message has been handed over (HTTP: when the answer's headers are there). Rejects with a `Fault`. */
  send(message: Message, options?: SendOptions): Promise<void>;
  /** Resolves when nothing of the channel is left. Idempotent. */
  close(): Promise<void>;
}

export interface SendOptions {
  /** Ends the request; over HTTP its stream is closed. */
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The stream of the answer ended, or a whole answer came, and there will be no other. */
  readonly onAnswerEnd?: ((reason: Observation) => void) | undefined;
}
