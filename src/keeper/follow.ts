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
  if (after !== undefined && after > 0) {
    const first = log.read({ limit: 1 })[0]?.position ?? 0;
    if (first > after + 1) on.gap(after + 1, first - 1);
  }
  let ended = false;
  let last = after ?? log.lastPosition();
  for (;;) {
    const page = log.read({ after: last, stream, type, limit: PAGE });
    if (page.length === 0 || ended) break;
    last = page.at(-1)?.position ?? last;
    on.events(page);
  }
  const wanted = (fact: Recorded): boolean =>
    fact.position > last &&
    (stream === undefined || fact.stream === stream) &&
    (type === undefined || fact.type === type);
  const subscription = log.committed$.subscribe((facts) => {
    const found = facts.filter(wanted);
    if (found.length > 0) on.events(found);
  });
  return () => {
    ended = true;
    subscription.unsubscribe();
  };
}
