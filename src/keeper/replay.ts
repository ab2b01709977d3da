/** Verifying and asking what if, beside everything else the daemon does: it comes up for air every few milliseconds. */
import type { Keeper } from '../http/keeper.ts';
import { Problem } from '../http/problem.ts';
import { type Changes, wrongIn } from '../replay/changes.ts';
import { type ReplayLog, replaying } from '../replay/replay.ts';
import { TooMany } from '../replay/what-if.ts';
import { inTurns } from './turns.ts';

type Query = Parameters<Keeper['replay']>[0];
type Answer = Awaited<ReturnType<Keeper['replay']>>;

/** `now` in ms since the epoch. Throws a `Problem` for limits that cannot be changed, or too much at once. */
export async function answerReplay(log: ReplayLog, { name, from, to, fast, set }: Query, now: number): Promise<Answer> {
  const wrong = set === undefined ? null : wrongIn(set);
  if (wrong !== null) throw new Problem('invalid-request', `In the body: set: ${wrong}`);
  if (set !== undefined && name === undefined)
    throw new Problem('invalid-request', 'In the body: name: which server is to have other limits?');
  try {
    const by = fast ? 'table' : 'machine';
    return await inTurns(replaying(log, { name, from, to, by, set: set as Changes | undefined, until: now }));
  } catch (error) {
    if (!(error instanceof TooMany)) throw error;
    throw new Problem('invalid-request', error.message);
  }
}
