/** What several commands need around a question to the daemon. */
import type { Call, Client } from '../api/client.ts';
import { ApiError, DaemonUnreachable } from '../api/errors.ts';
import { CommandError, usedWrongly } from './failure.ts';
import { outcomeSentence } from './outcome.text.ts';
import { didYouMean, nearest } from './suggest.ts';

const isCode = (error: unknown, code: string): boolean => error instanceof ApiError && error.code === code;

/** A name that no server has, with near names; `command` is what to type again. */
export function unknownServer(name: string, names: readonly string[], command: string): CommandError {
  const near = nearest(name, names)[0];
  return new CommandError(`There is no server "${name}".${didYouMean(name, names)}`, {
    next: [near === undefined ? 'status' : `${command} ${near}`],
  });
}

export const serverNames = async (api: Client): Promise<string[]> =>
  (await api.status()).servers.map(({ name }) => name);

/** Throws with near names unless a server is called so. */
export async function mustKnow(api: Client, name: string, command: string): Promise<void> {
  const names = await serverNames(api);
  if (!names.includes(name)) throw unknownServer(name, names, command);
}

/** Asks; when the daemon does not know the server, the error names the near ones. */
export async function aboutServer<T>(api: Client, name: string, command: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ApiError) || !isCode(error, 'unknown-server')) throw error;
    const names = await serverNames(api);
    // It is known, and was not yet at the moment that was asked about.
    if (names.includes(name)) throw new CommandError(error.detail, { next: [`${command} ${name}`] });
    throw unknownServer(name, names, command);
  }
}

/**
 * Asks about a held call. The beginning of an id is enough when one call begins so and no other, held or decided lately: a
 * call that came a moment ago must not take the place of the one that was read about. Else the error names the near ones.
 */
export async function aboutHeldCall<T>(
  api: Client,
  id: string,
  command: string,
  ask: (id: string) => Promise<T>,
): Promise<T> {
  if (id.trim() === '') throw usedWrongly(`Say which call to ${command}: its id, or how that begins.`, 'approvals');
  try {
    return await ask(id);
  } catch (error) {
    if (isCode(error, 'call-not-held')) throw await decidedAlready(api, id);
    if (!isCode(error, 'unknown-call')) throw error;
    const [held, lately] = await Promise.all([api.calls({ state: 'held', limit: 1000 }), api.calls({ limit: 1000 })]);
    const ids = held.calls.map((call) => call.id);
    const known = new Set([...ids, ...lately.calls.map((call) => call.id)]);
    const begun = [...known].filter((one) => one.startsWith(id));
    if (begun.length === 1 && begun[0] !== undefined) return await aboutHeldCall(api, begun[0], command, ask);
    const near = nearest(id, ids)[0];
    throw new CommandError(
      begun.length > 1
        ? `${begun.length} calls begin with "${id}", held or decided lately; type more of the id.`
        : `There is no held call "${id}".${didYouMean(id, ids)}`,
      { next: [near === undefined || begun.length > 1 ? 'approvals' : `${command} ${near}`] },
    );
  }
}

/** What became of a call that somebody wanted to decide about. */
async function decidedAlready(api: Client, id: string): Promise<CommandError> {
  const call = await api.callById(id);
  const by = call.decidedBy === null ? '' : ` (by ${call.decidedBy})`;
  return new CommandError(`Nothing to decide any more: ${outcomeSentence(call)}${by}`, {
    next: [`ledger show ${id}`, 'approvals'],
  });
}

/** Asks the daemon, or, when none runs, does it another way. A connection that breaks midway is not "none runs". */
export async function unlessNoDaemon<T>(
  api: Client,
  online: () => Promise<T>,
  offline: (why: DaemonUnreachable) => Promise<T>,
): Promise<T> {
  try {
    await api.health();
  } catch (error) {
    if (error instanceof DaemonUnreachable) return await offline(error);
    throw error;
  }
  return await online();
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Follows a call that was approved until it has ended. Returns it as it is when nobody runs it now: its caller has left,
 * and it runs when the same call comes again.
 */
export async function settled(api: Client, id: string): Promise<Call> {
  let call = await api.callById(id);
  for (
    let round = 0;
    call.state === 'running' || call.state === 'requested' || (call.state === 'approved' && round < 3);
    round++
  ) {
    await pause(Math.min(50 * 2 ** round, 500));
    call = await api.callById(id);
  }
  return call;
}
