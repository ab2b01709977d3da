/** Reads the body of an answer as server-sent events. */
import { type Answer, codeOf } from './exchange.ts';
import { Fault } from './failure.ts';
import { LineTooLong } from './lines.ts';
import { type SseEvent, SseParser } from './sse.ts';

export interface StreamEnd {
  readonly lastEventId: string | undefined;
  readonly retryMs: number | undefined;
  /** Why it broke off; null for a clean end. */
  readonly fault: Fault | null;
}

/** Resolves at the end of the stream, whichever way it comes. `onData` gets the data of each `message` event, `onOther` the rest. */
export async function readEvents(
  { body }: Answer,
  limit: number,
  onData: (data: string) => void,
  onOther: (event: SseEvent) => void = () => {},
): Promise<StreamEnd> {
  const parser = new SseParser(limit);
  const end = (fault: Fault | null): StreamEnd => ({ lastEventId: parser.lastEventId, retryMs: parser.retryMs, fault });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      parser.push(chunk, (event) => (event.type === 'message' ? onData(event.data) : onOther(event)));
    }
    return end(null);
  } catch (error) {
    if (error instanceof LineTooLong)
      return end(new Fault({ seen: 'unparsable', detail: `in the event stream ${error.message}` }, true));
    return end(new Fault({ seen: 'network', code: codeOf(error), target: 'the event stream' }, true));
  }
}
