/** The facts of a server, and going back in them. Pure. */
import type { LogEvent } from '../api/follow.ts';
import type { ServerScreen } from './model.ts';

/** Facts kept of the server that is opened; older ones are a matter for `watchkeeper log`. */
const MOST = 2000;

/** Facts in the order of the log, each once, the newest kept. */
export function withFacts(known: readonly LogEvent[], more: readonly LogEvent[]): readonly LogEvent[] {
  const last = known.at(-1)?.position ?? 0;
  // Facts mostly come one by one, behind those that are known.
  if (more.every(({ position }) => position > last)) return [...known, ...more].slice(-MOST);
  const all = new Map([...known, ...more].map((fact) => [fact.position, fact]));
  return [...all.values()].toSorted((a, b) => a.position - b.position).slice(-MOST);
}

/** Index of the fact that is looked at; the newest one when nobody went back. */
export function cursorIn({ facts, at }: Pick<ServerScreen, 'facts' | 'at'>): number {
  const last = (facts?.length ?? 0) - 1;
  if (at === null) return last;
  const found = (facts ?? []).findLastIndex(({ position }) => position <= at);
  return Math.max(0, found);
}

/** Where a step of `by` facts leads: a position, or null for now. */
export function travel(screen: Pick<ServerScreen, 'facts' | 'at'>, by: number): number | null {
  const facts = screen.facts ?? [];
  const next = cursorIn(screen) + by;
  if (next >= facts.length - 1) return null;
  return facts[Math.max(0, next)]?.position ?? null;
}

/** What the process last wrote to stderr, as the newest fact up to `at` that holds some of it tells. */
export function lastWords({ facts, at }: Pick<ServerScreen, 'facts' | 'at'>): { text: string; fact: LogEvent } | null {
  const found = (facts ?? []).findLast((fact) => (at === null || fact.position <= at) && tailOf(fact) !== '');
  return found === undefined ? null : { text: tailOf(found), fact: found };
}

function tailOf({ data }: LogEvent): string {
  const { failure } = data as { failure?: { stderrTail?: unknown } };
  return typeof failure?.stderrTail === 'string' ? failure.stderrTail.trim() : '';
}
