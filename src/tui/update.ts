/** The fold: a model and a message → the next model, and what is to be done. Pure. */

import { type Message, type Model, type Step, step } from './model.ts';
import { mostScroll } from './server.view.ts';
import { feedMessage } from './update.feed.ts';
import { inputStep } from './update.input.ts';
import { bodyHeight } from './view.ts';

export function update(model: Model, message: Message): Step {
  switch (message.kind) {
    case 'input':
      return within(inputStep({ ...model, now: Math.max(model.now, message.at) }, message.input, message.at));
    case 'tick':
      return tick(model, message.at);
    case 'size':
      return step({ ...model, columns: message.columns, rows: message.rows });
    default:
      return feedMessage(model, message);
  }
}

/** A text is scrolled no further than to its end. */
function within({ model, commands }: Step): Step {
  const { server } = model;
  if (server === null || server.scroll === 0) return { model, commands };
  const scroll = Math.min(server.scroll, mostScroll(model, server, bodyHeight(model)));
  return { model: { ...model, server: { ...server, scroll } }, commands };
}

/** How often the why is asked for while it is read, since it speaks of times that pass, in ms. */
const WHY_MS = 5_000;

/** What was said long enough ago goes away. */
function tick(model: Model, at: number): Step {
  const { server, said } = model;
  const next: Model = { ...model, now: at, said: said !== null && said.until <= at ? null : said };
  const reads = server !== null && server.tab === 'why' && server.at === null && model.link.up;
  const due = Math.floor(at / WHY_MS) !== Math.floor(model.now / WHY_MS);
  return reads && due ? step(next, { do: 'load-why', name: server.name, at: null }) : step(next);
}
