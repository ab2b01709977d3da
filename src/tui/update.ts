/** The fold: a model and a message → the next model, and what is to be done. Pure. */

import { type Message, type Model, type ServerScreen, type Step, step, TO_END } from './model.ts';
import { mostScroll } from './server.view.ts';
import { feedMessage } from './update.feed.ts';
import { inputStep } from './update.input.ts';
import { bodyHeight } from './view.ts';

export function update(model: Model, message: Message): Step {
  switch (message.kind) {
    case 'input':
      return within(inputStep(scrolled({ ...model, now: Math.max(model.now, message.at) }), message.input, message.at));
    case 'tick':
      return tick(model, message.at);
    case 'size':
      return step({ ...model, columns: message.columns, rows: message.rows });
    default:
      return feedMessage(model, message);
  }
}

const mostOf = (model: Model, server: ServerScreen): number => mostScroll(model, server, bodyHeight(model));

/** Keys go on from what is seen. */
function scrolled(model: Model): Model {
  const { server } = model;
  if (server === null || server.scroll === 0) return model;
  return { ...model, server: { ...server, scroll: Math.min(server.scroll, mostOf(model, server)) } };
}

/** A text is scrolled no further than to its end; the end of what a process writes is followed. */
function within({ model, commands }: Step): Step {
  const { server } = model;
  if (server === null || server.scroll === 0) return { model, commands };
  const most = mostOf(model, server);
  const end = server.tab === 'stderr' ? TO_END : most;
  return { model: { ...model, server: { ...server, scroll: server.scroll >= most ? end : server.scroll } }, commands };
}

/** How often the why is asked for while it is read, since it speaks of times that pass, in ms. */
const WHY_MS = 5_000;
/** How often what a process writes is asked for while it is read, in ms. */
const STDERR_MS = 1_000;

/** What was said long enough ago goes away, and what changes with no fact is asked for while somebody reads it. */
function tick(model: Model, at: number): Step {
  const { server, said } = model;
  const next: Model = { ...model, now: at, said: said !== null && said.until <= at ? null : said };
  if (server === null || server.at !== null || !model.link.up) return step(next);
  const due = (every: number): boolean => Math.floor(at / every) !== Math.floor(model.now / every);
  const { name, tab } = server;
  if (tab === 'why' && due(WHY_MS)) return step(next, { do: 'load-why', name, at: null });
  return tab === 'stderr' && due(STDERR_MS) ? step(next, { do: 'load-stderr', name }) : step(next);
}
