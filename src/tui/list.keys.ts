/** Keys of the list. Pure. */
import { fieldOf } from './field.ts';
import { blankForm } from './form.ts';
import type { Input } from './keys.ts';
import { chosen, move } from './list.ts';
import {
  loadServer,
  type Model,
  type Question,
  type ServerScreen,
  type Step,
  say,
  sorts,
  step,
  type Tab,
} from './model.ts';

export const screenOf = (name: string, tab: Tab): ServerScreen => ({
  name,
  tab,
  tools: null,
  grants: null,
  row: 0,
  facts: null,
  at: null,
  asOf: null,
  why: null,
  stderr: null,
  scroll: 0,
});

/** Opens a server. */
export const open = (model: Model, name: string, tab: Tab = 'tools'): Step =>
  step(
    { ...model, server: screenOf(name, tab), add: null, login: null, client: null, opening: null },
    ...loadServer(name, null),
  );

export const removal = (name: string): Question => ({
  text: `Remove ${name}?`,
  about: 'It is stopped; its entry, its login and its grants are deleted. What happened stays in the log.',
  yes: [{ do: 'remove', name }],
});

const pageOf = ({ rows }: Model): number => Math.max(1, rows - 8);

/** The step after a key; null when the list has no use for it. */
export function listKey(model: Model, input: Input): Step | null {
  if ('name' in input) {
    switch (input.name) {
      case 'up':
        return step(move(model, -1));
      case 'down':
        return step(move(model, 1));
      case 'page-up':
        return step(move(model, -pageOf(model)));
      case 'page-down':
        return step(move(model, pageOf(model)));
      case 'home':
        return step(move(model, Number.NEGATIVE_INFINITY));
      case 'end':
        return step(move(model, Number.POSITIVE_INFINITY));
      case 'enter':
      case 'right': {
        const server = chosen(model);
        return server === null ? step(model) : open(model, server.name);
      }
      case 'escape':
        return step({ ...model, list: { ...model.list, filter: '' } });
      default:
        return null;
    }
  }
  return 'text' in input ? listLetter(model, input.text) : null;
}

function listLetter(model: Model, letter: string): Step | null {
  switch (letter) {
    case 'j':
      return step(move(model, 1));
    case 'k':
      return step(move(model, -1));
    case 'a':
      return step({ ...model, add: { form: blankForm(), trial: null } });
    case 'R':
      return step(say(model, 'All servers are reconnected.', 'quiet'), { do: 'reconnect', name: null });
    case '/':
      return step({ ...model, list: { ...model.list, filter: '' }, line: fieldOf('/') });
    case 's': {
      const next = sorts[(sorts.indexOf(model.list.sort) + 1) % sorts.length] ?? 'name';
      return step({ ...model, list: { ...model.list, sort: next } });
    }
    case 'q':
      return step(model, { do: 'leave' });
    default: {
      const server = chosen(model);
      return server === null ? null : aboutServerKey(model, server.name, letter);
    }
  }
}

/** Keys that do something to one server, in the list and where it is opened. */
export function aboutServerKey(model: Model, name: string, letter: string): Step | null {
  switch (letter) {
    case 'r':
      return step(say(model, `${name} is reconnected.`, 'quiet'), { do: 'reconnect', name });
    case 'x': {
      const off = model.servers?.find((server) => server.name === name)?.state === 'disabled';
      return step(model, { do: off ? 'enable' : 'disable', name });
    }
    case 'd':
      return step({ ...model, question: removal(name) });
    default:
      return null;
  }
}
