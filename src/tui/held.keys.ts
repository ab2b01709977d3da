/** Keys of the panel of held calls. Pure. */
import { edit, fieldOf, insert } from './field.ts';
import { ARMING_MS, open, shown, withCalls } from './held.ts';
import type { Input } from './keys.ts';
import { type HeldPanel, type Model, type Step, say, step } from './model.ts';

const withHeld = (model: Model, change: Partial<HeldPanel>): Model => ({
  ...model,
  held: { ...model.held, ...change },
});

/** Another call is shown; it takes no key at first either. */
function turn(model: Model, by: number): Model {
  const calls = open(model.held);
  const at = calls.findIndex(({ id }) => id === shown(model.held)?.id);
  const next = calls[(at + by + calls.length) % calls.length];
  return withHeld(model, { shown: next?.id ?? null, scroll: 0, reason: null, armedAt: model.now + ARMING_MS });
}

function reasonKey(model: Model, id: string, input: Input): Step {
  const { reason } = model.held;
  if (reason === null) return step(model);
  if ('paste' in input) return step(withHeld(model, { reason: insert(reason, input.paste) }));
  if ('name' in input && input.name === 'escape') return step(withHeld(model, { reason: null }));
  if ('name' in input && input.name === 'enter')
    return step(decided(model, id), { do: 'deny', id, reason: reason.value.trim() });
  return step(withHeld(model, { reason: edit(reason, input) ?? reason }));
}

/** The step after a key while a call is shown. */
export function heldKey(model: Model, input: Input, at: number): Step {
  const call = shown(model.held);
  if (call === null) return step(model);
  if (model.held.reason !== null) return reasonKey(model, call.id, input);
  // Whoever still types gets more time; nothing is decided by a key that was meant for something else.
  if (at < model.held.armedAt)
    return step(withHeld(model, { armedAt: Math.max(model.held.armedAt, at + ARMING_MS / 2) }));
  if ('name' in input) return moveKey(model, input.name);
  if (!('text' in input)) return step(model);
  const after = decided(model, call.id);
  switch (input.text) {
    case 'o':
      return step(after, { do: 'approve', id: call.id, remember: 'once' });
    case 't':
      return step(after, { do: 'approve', id: call.id, remember: 'tool' });
    case 's':
      return step(after, { do: 'approve', id: call.id, remember: 'server' });
    case 'd':
      return step(withHeld(model, { reason: fieldOf() }));
    case 'l':
      return step(putOff(model, call.id));
    case 'j':
      return moveKey(model, 'down');
    case 'k':
      return moveKey(model, 'up');
    default:
      return step(model);
  }
}

/** It makes way at once for the next one; whether the daemon took the answer shows when the calls are read anew. */
function decided(model: Model, id: string): Model {
  const left = model.held.calls.filter((call) => call.id !== id);
  return withHeld(withCalls(model, left).model, { focused: false, reason: null });
}

/** Put off: it stays held, and the title tells of it. */
const putOff = (model: Model, id: string): Model => {
  const put = withHeld(model, {
    later: [...model.held.later, id],
    focused: false,
    shown: null,
    scroll: 0,
    armedAt: model.now + ARMING_MS,
  });
  return say(put, 'It goes on waiting; h shows it again.', 'quiet');
};

function moveKey(model: Model, name: string): Step {
  const { scroll } = model.held;
  switch (name) {
    case 'down':
      return step(withHeld(model, { scroll: scroll + 1 }));
    case 'up':
      return step(withHeld(model, { scroll: Math.max(0, scroll - 1) }));
    case 'page-down':
      return step(withHeld(model, { scroll: scroll + 8 }));
    case 'page-up':
      return step(withHeld(model, { scroll: Math.max(0, scroll - 8) }));
    case 'tab':
    case 'right':
      return step(turn(model, 1));
    case 'back-tab':
    case 'left':
      return step(turn(model, -1));
    case 'escape': {
      const call = shown(model.held);
      return step(call === null ? model : putOff(model, call.id));
    }
    default:
      return step(model);
  }
}

/** Shows what was put off again. */
export const showHeld = (model: Model): Model =>
  model.held.calls.length === 0
    ? say(model, 'No call is waiting.', 'quiet')
    : withHeld(model, { later: [], shown: null, scroll: 0, armedAt: model.now });
