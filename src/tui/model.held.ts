/** Calls that wait for a person: shown over everything else, decided with one key. Pure. */
import type { Call } from '../api/client.ts';
import { edit, fieldOf, insert } from './field.ts';
import type { Key } from './keys.ts';
import type { Command, Held, Model, Step } from './state.ts';
import { clamp, only, say } from './steps.ts';

/**
 * A call may appear while somebody types. Its keys count only after the keyboard was still for this long; until then what is
 * typed goes on to the screen below.
 */
const stillMs = 700;

export const noneHeld: Held = {
  calls: [],
  later: new Set(),
  known: new Set(),
  armedAt: 0,
  reason: null,
  deciding: null,
  scroll: 0,
};

/** The call that is shown: the oldest one that was not put off. */
export const shownCall = ({ calls, later }: Held): Call | null => calls.find(({ id }) => !later.has(id)) ?? null;

/** Whether keys decide about the call that is shown. */
export const isArmed = ({ held, now }: Pick<Model, 'held' | 'now'>): boolean =>
  held.reason !== null || now >= held.armedAt;

const unarmed = (model: Model): Step => [
  { ...model, held: { ...model.held, armedAt: model.now + stillMs } },
  [{ do: 'wake', afterMs: stillMs }],
];

/** Takes over the held calls as they are now. */
export function heldLoaded(model: Model, latestFirst: readonly Call[]): Step {
  const calls = latestFirst.toReversed();
  const fresh = calls.filter(({ id }) => !model.held.known.has(id));
  const before = shownCall(model.held)?.id;
  const ids = new Set(calls.map(({ id }) => id));
  const held: Held = {
    ...model.held,
    calls,
    known: new Set([...model.held.known, ...fresh.map(({ id }) => id)]),
    later: new Set([...model.held.later].filter((id) => ids.has(id))),
  };
  const next: Model = { ...model, held };
  const rings: readonly Command[] = fresh.length > 0 && model.bell ? [{ do: 'bell' }] : [];
  const after = shownCall(held)?.id;
  if (after === undefined || after === before) {
    return [after === undefined ? { ...next, held: { ...held, reason: null } } : next, rings];
  }
  const [armed, commands] = unarmed({ ...next, held: { ...held, reason: null, scroll: 0 } });
  return [armed, [...rings, ...commands]];
}

/** Shows the calls again that were put off. */
export function showHeld(model: Model): Step {
  if (model.held.calls.length === 0) return only(say(model, 'No call waits for you.'));
  return only({ ...model, held: { ...model.held, later: new Set(), armedAt: 0, scroll: 0 } });
}

/** A key while a call is shown; null: it goes on to the screen below. */
export function heldKey(model: Model, call: Call, key: Key): Step | null {
  const { held } = model;
  if (!isArmed(model)) return null;
  const change = (next: Partial<Held>): Step => only({ ...model, held: { ...held, ...next } });
  if (held.reason !== null) {
    if ('name' in key && key.name === 'escape') return change({ reason: null });
    if ('name' in key && key.name === 'enter')
      return decide(model, call, { kind: 'deny', id: call.id, reason: held.reason.value.trim() });
    return change({ reason: edit(held.reason, key) ?? held.reason });
  }
  if ('name' in key) {
    const by = { up: -1, down: 1, 'page-up': -10, 'page-down': 10 }[key.name as string] ?? 0;
    if (key.name === 'escape') return putOff(model, call);
    return change({ scroll: clamp(held.scroll + by, 0, 10_000) });
  }
  if (!('text' in key) || held.deciding !== null) return only(model);
  switch (key.text) {
    case 'o':
      return decide(model, call, { kind: 'approve', id: call.id, remember: 'once' });
    case 't':
      return decide(model, call, { kind: 'approve', id: call.id, remember: 'tool' });
    case 's':
      return decide(model, call, { kind: 'approve', id: call.id, remember: 'server' });
    case 'd':
      return change({ reason: fieldOf() });
    case 'l':
      return putOff(model, call);
    default:
      return only(model);
  }
}

/** A key went to the screen below a call that is not armed yet: the keyboard is not still. */
export const stillTyping = (model: Model): Step =>
  shownCall(model.held) !== null && !isArmed(model) ? unarmed(model) : only(model);

export const heldPaste = (model: Model, text: string): Step | null =>
  model.held.reason === null
    ? null
    : only({ ...model, held: { ...model.held, reason: insert(model.held.reason, text) } });

function decide(model: Model, call: Call, act: Extract<import('./state.ts').Act, { kind: 'approve' | 'deny' }>): Step {
  return [{ ...model, held: { ...model.held, deciding: call.id } }, [{ do: 'act', act }]];
}

function putOff(model: Model, call: Call): Step {
  const { held } = model;
  const next: Held = { ...held, later: new Set([...held.later, call.id]), scroll: 0, reason: null };
  const put: Model = say({ ...model, held: next }, `${call.name} goes on waiting; h shows it again.`);
  return shownCall(next) === null ? only(put) : unarmed(put);
}
