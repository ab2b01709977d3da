import type { Keeper } from './keeper.ts';
import type { EventStream } from './sse.ts';
import { wireEvent } from './wire.ts';

export interface FeedQuery {
  /** undefined: only what comes from now on. */
  readonly after: number | undefined;
  readonly stream: string | undefined;
  readonly type: string | undefined;
}

const pageSize = 200;

/**
 * Sends the log to one reader until the stream closes. A reader that keeps up is fed as facts are committed; one that
 * falls behind is let go from the feed, reads the log page by page at its own speed, and joins the feed again. So what
 * is kept in memory for it stays bounded, and it misses nothing.
 */
export async function feedEvents(keeper: Keeper, query: FeedQuery, stream: EventStream): Promise<void> {
  let last = query.after;
  while (stream.isOpen) {
    last = await follow(keeper, { ...query, after: last }, stream);
    await stream.drained();
    last = await catchUp(keeper, { ...query, after: last }, stream);
  }
}

/** Resolves with the last position sent when the stream is full or closed. */
function follow(keeper: Keeper, query: FeedQuery, stream: EventStream): Promise<number | undefined> {
  return new Promise((resolve) => {
    let last = query.after;
    let following = true;
    let end: (() => void) | undefined;
    const stop = () => {
      following = false;
      forget();
      end?.();
      resolve(last);
    };
    const forget = stream.onClose(stop);
    end = keeper.followEvents(query, {
      events: (events) => {
        for (const recorded of events) {
          if (!following) return;
          stream.send({ id: recorded.position, data: wireEvent(recorded) });
          last = recorded.position;
          if (stream.isFull) stop();
        }
      },
      gap: (from, to) => {
        if (following) stream.send({ event: 'gap', data: { from, to } });
      },
    });
    // It may have filled up while there was nothing to end yet.
    if (!following) end();
  });
}

/** Reads pages up to the end of the log, as fast as the reader takes them. */
async function catchUp(keeper: Keeper, query: FeedQuery, stream: EventStream): Promise<number | undefined> {
  let last = query.after;
  while (last !== undefined && stream.isOpen) {
    const page = keeper.events({ after: last, stream: query.stream, type: query.type, limit: pageSize });
    for (const event of page.events) {
      stream.send({ id: event.position, data: event });
      last = event.position;
      if (stream.isFull) await stream.drained();
      if (!stream.isOpen) return last;
    }
    if (page.next === null) return last;
    last = page.next;
  }
  return last;
}
