/** The rules behind every kind of stream whose fold is kept in `heads`. */
import type { Fact } from '../events/catalogue.ts';
import { allowlistRules } from './allowlist/allowlist.rules.ts';
import type { Rules } from './head.ts';
import { journalRules } from './journal.ts';
import { serverRules } from './server/server.rules.ts';

type FoldRules = Pick<Rules<unknown, Fact, never, never>, 'initial' | 'next' | 'evolve'>;

const journal = journalRules<Fact>();

/** null: the stream's head is not kept, as with calls. */
export function rulesOf(stream: string): FoldRules | null {
  if (stream.startsWith('server-')) return serverRules as unknown as FoldRules;
  if (stream === 'allowlist') return allowlistRules as unknown as FoldRules;
  return stream.startsWith('call-') ? null : (journal as unknown as FoldRules);
}
