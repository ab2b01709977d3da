import type { Subscription } from 'rxjs';
import type { Recorded } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';

const PAGE = 200;

export interface FollowQuery {
  /** undefined: only what comes from now on. */
  readonly after: number | undefined;
  readonly stream: string | undefined;
  readonly type: string | undefined;
}

/** First what is in the log after `after`, then what is committed, each once and in order. Returns the end. */
export function followLog(
  log: EventLog,
  { after, stream, type }: FollowQuery,
  on: { events: (events: readonly Recorded[]) => void; gap: (from: number, to: number) => void },
): () => void {
  if (after !== undefined) {
    const first = log.read({ limit: 1 })[0]?.position ?? 0;
    if (first > after + 1) on.gap(after + 1, first - 1);
  }
  let last = after ?? log.lastPosition();
  let next: NodeJS.Immediate | null = null;
  let subscription: Subscription | null = null;

  const wanted = (fact: Recorded): boolean =>
    fact.position > last &&
    (stream === undefined || fact.stream === stream) &&
    (type === undefined || fact.type === type);
  const listen = (): void => {
    subscription = log.committed$.subscribe((facts) => {
      const found = facts.filter(wanted);
      if (found.length > 0) on.events(found);
    });
  };
  // A page a turn, so that a long backlog stops nobody else; the feed begins in the turn of the last page, so nothing is missed.
  const catchUp = (): void => {
    const page = log.read({ after: last, stream, type, limit: PAGE });
    last = page.at(-1)?.position ?? last;
    if (page.length === PAGE) next = setImmediate(catchUp);
    else listen();
    if (page.length > 0) on.events(page);
  };
  catchUp();
  return () => {
    if (next) clearImmediate(next);
    subscription?.unsubscribe();
  };
}
