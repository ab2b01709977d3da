/** Calls that wait for a person: which is shown, and when it takes keys. Pure. */
import type { Call } from '../api/client.ts';
import type { HeldPanel, Model } from './model.ts';

/** A panel that has just appeared takes no key for so long: whoever is typing must not answer it by accident. In ms. */
export const ARMING_MS = 700;

/** Calls that were not put off, oldest first. */
export const open = ({ calls, later }: HeldPanel): readonly Call[] => calls.filter(({ id }) => !later.includes(id));

/** The call that is shown; null when there is none. */
export const shown = (held: HeldPanel): Call | null =>
  open(held).find(({ id }) => id === held.shown) ?? open(held)[0] ?? null;

/** Whether a text is being typed below the panel. */
export const isTyping = ({ add, login, client, line }: Model): boolean =>
  line !== null || client !== null || login !== null || add !== null;

/** Whether the next key is for the panel. */
export const hasKeys = (model: Model): boolean =>
  shown(model.held) !== null &&
  model.question === null &&
  (model.held.focused || model.held.reason !== null || !isTyping(model));

/** The panel with the calls that are held now. A call that appears starts the arming anew. */
export function withCalls(model: Model, calls: readonly Call[]): { readonly model: Model; readonly ring: boolean } {
  const known = new Set(model.held.calls.map(({ id }) => id));
  const ids = new Set(calls.map(({ id }) => id));
  const fresh = calls.some(({ id }) => !known.has(id));
  const before = shown(model.held);
  const sorted = calls.toSorted((a, b) => (a.requestedAt < b.requestedAt ? -1 : a.requestedAt > b.requestedAt ? 1 : 0));
  const held: HeldPanel = {
    ...model.held,
    calls: sorted,
    later: model.held.later.filter((id) => ids.has(id)),
    shown: before !== null && ids.has(before.id) ? before.id : null,
  };
  const changed = shown(held)?.id !== before?.id;
  return {
    model: {
      ...model,
      held: changed
        ? {
            ...held,
            shown: shown(held)?.id ?? null,
            armedAt: model.now + ARMING_MS,
            scroll: 0,
            reason: null,
            focused: false,
          }
        : held,
    },
    ring: fresh,
  };
}
