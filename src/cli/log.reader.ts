/**
 * Finding one's way in a log that can only be read forwards from a position: the same over HTTP and over the file.
 * Times never go back along the log, so places are found by halving.
 */
import type { Events } from '../api/client.ts';
import type { Moment } from './moment.ts';
import type { Event } from './shapes.ts';

export interface EventFilter {
  readonly stream?: string | undefined;
  readonly type?: string | undefined;
}

/** Facts after a position, ascending, at most `limit` (1 to 1000). */
export type ReadEvents = (query: EventFilter & { readonly after: number; readonly limit: number }) => Promise<Events>;

const page = 1000;

const firstAfter = async (read: ReadEvents, after: number): Promise<Event | undefined> =>
  (await read({ after, limit: 1 })).events[0];

/** Position of the newest fact; 0 when the log is empty. */
export async function lastPosition(read: ReadEvents): Promise<number> {
  let last = 0;
  let step = 1;
  for (;;) {
    const event = await firstAfter(read, last + step - 1);
    if (event) {
      last = event.position;
      step *= 2;
    } else if (step === 1) return last;
    else step = Math.max(1, Math.floor(step / 4));
  }
}

/** The position to read after so that the first fact is the first one at or after `time` (ms since the epoch). */
export async function positionBefore(read: ReadEvents, time: number): Promise<number> {
  let low = 0;
  let high = await lastPosition(read);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const event = await firstAfter(read, middle);
    if (event && Date.parse(event.at) < time) low = event.position;
    else high = middle;
  }
  return low;
}

/** Where reading starts for `--since`: a position is itself part of the answer. */
export async function startOf(read: ReadEvents, since: Moment): Promise<number> {
  return 'position' in since ? Math.max(0, since.position - 1) : positionBefore(read, since.time);
}

/** A moment as a time (ms since the epoch): for a position that of its fact, undefined when nothing comes there. */
export async function timeOf(read: ReadEvents, when: Moment): Promise<number | undefined> {
  if ('time' in when) return when.time;
  const event = await firstAfter(read, Math.max(0, when.position - 1));
  return event && Date.parse(event.at);
}

/** Every fact after `after` and up to `upTo`, page by page. */
export async function* eventsBetween(
  read: ReadEvents,
  after: number,
  upTo: number,
  filter: EventFilter,
): AsyncGenerator<Event, void> {
  let from: number | null = after;
  while (from !== null && from < upTo) {
    const { events, next }: Events = await read({ ...filter, after: from, limit: page });
    for (const event of events) {
      if (event.position > upTo) return;
      yield event;
    }
    from = next;
  }
}

/** The newest `count` facts that pass the filter, ascending. Looks back in windows that grow. */
export async function newest(read: ReadEvents, count: number, filter: EventFilter): Promise<Event[]> {
  let found: Event[] = [];
  let upTo = await lastPosition(read);
  for (let window = Math.max(page, count); upTo > 0 && found.length < count; window *= 4) {
    const after = Math.max(0, upTo - window);
    const part: Event[] = [];
    for await (const event of eventsBetween(read, after, upTo, filter)) part.push(event);
    found = [...part, ...found];
    upTo = after;
  }
  return found.slice(-count);
}
