/** The fold: a model and a message → the next model, and what is to be done. Pure. */

import type { Message, Model, Step } from './model.ts';
import { step } from './model.ts';
import { feedMessage } from './update.feed.ts';
import { inputStep } from './update.input.ts';

export function update(model: Model, message: Message): Step {
  switch (message.kind) {
    case 'input':
      return inputStep({ ...model, now: Math.max(model.now, message.at) }, message.input, message.at);
    case 'tick':
      return step(tick(model, message.at));
    case 'size':
      return step({ ...model, columns: message.columns, rows: message.rows });
    default:
      return feedMessage(model, message);
  }
}

/** What was said long enough ago goes away. */
const tick = (model: Model, at: number): Model => ({
  ...model,
  now: at,
  said: model.said !== null && model.said.until <= at ? null : model.said,
});
