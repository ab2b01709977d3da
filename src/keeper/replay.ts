/** Verifying and asking what if, beside everything else the daemon does: it comes up for air every few milliseconds. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Keeper } from '../http/keeper.ts';
import { Problem } from '../http/problem.ts';
import { type Changes, wrongIn } from '../replay/changes.ts';
import { type ReplayLog, replaying } from '../replay/replay.ts';
import { unhurried } from '../replay/unhurried.ts';
import { TooMany } from '../replay/what-if.ts';

/** Others are kept waiting no longer than this and one page of facts, in ms. */
const PATIENCE_MS = 8;

type Query = Parameters<Keeper['replay']>[0];
type Answer = Awaited<ReturnType<Keeper['replay']>>;

/** `now` in ms since the epoch. Throws a `Problem` for limits that cannot be changed, or too much at once. */
export async function answerReplay(log: ReplayLog, { name, from, to, fast, set }: Query, now: number): Promise<Answer> {
  const wrong = set === undefined ? null : wrongIn(set);
  if (wrong !== null) throw new Problem('invalid-request', `In the body: set: ${wrong}`);
  if (set !== undefined && name === undefined)
    throw new Problem('invalid-request', 'In the body: name: which server is to have other limits?');
  let since = performance.now();
  const breathe = async (): Promise<void> => {
    if (performance.now() - since < PATIENCE_MS) return;
    await turn();
    since = performance.now();
  };
  try {
    const by = fast ? 'table' : 'machine';
    return await unhurried(
      replaying(log, { name, from, to, by, set: set as Changes | undefined, until: now }),
      breathe,
    );
  } catch (error) {
    if (!(error instanceof TooMany)) throw error;
    throw new Problem('invalid-request', error.message);
  }
}
