/** A key or a paste goes to whoever has the keyboard. Pure. */
import { addKey } from './add.keys.ts';
import { edit, type Field, fieldOf, insert } from './field.ts';
import { blankForm } from './form.ts';
import { heldKey, showHeld } from './held.keys.ts';
import { hasKeys, shown } from './held.ts';
import type { Input } from './keys.ts';
import { listKey, open } from './list.keys.ts';
import { clientKey, loginKey } from './login.keys.ts';
import { type Model, type Question, type Step, say, step } from './model.ts';
import { serverKey } from './server.keys.ts';

const isCtrl = (input: Input, letter: string): boolean => 'ctrl' in input && input.ctrl === letter;

export function inputStep(model: Model, input: Input, at: number): Step {
  if (isCtrl(input, 'c')) return step(model, { do: 'leave' });
  if (isCtrl(input, 'z')) return step(model, { do: 'suspend' });
  if (isCtrl(input, 'g') && shown(model.held) !== null) {
    return step({ ...model, held: { ...model.held, focused: true } });
  }
  if (model.question) return answer(model, model.question, input);
  if (hasKeys(model)) return heldKey(model, input, at);
  if (model.help) return helpKey(model, model.help.scroll, input);
  if (model.line) return lineKey(model, model.line, input);
  if (model.login) return loginKey(model, model.login, input);
  if (model.client) return clientKey(model, model.client, model.server?.name ?? '', input);
  if (model.add) return addKey(model, model.add, input);
  const own = model.server ? serverKey(model, model.server, input) : listKey(model, input);
  return own ?? anywhere(model, input);
}

/** Everything but `y` means no. */
function answer(model: Model, question: Question, input: Input): Step {
  const next = { ...model, question: null };
  if (!('text' in input) || (input.text !== 'y' && input.text !== 'Y')) return step(next);
  return step(question.discards ? { ...next, add: null } : next, ...question.yes);
}

function helpKey(model: Model, scroll: number, input: Input): Step {
  const by = 'name' in input ? { up: -1, down: 1, 'page-up': -10, 'page-down': 10 }[input.name as string] : undefined;
  return step({ ...model, help: by === undefined ? null : { scroll: Math.max(0, scroll + by) } });
}

function anywhere(model: Model, input: Input): Step {
  if (!('text' in input)) return step(model);
  switch (input.text) {
    case '?':
      return step({ ...model, help: { scroll: 0 } });
    case 'h':
      return step(showHeld(model));
    case 'b': {
      const bell = !model.bell;
      return step(say({ ...model, bell }, bell ? 'The bell rings when a call waits.' : 'The bell is off.', 'quiet'));
    }
    case '/':
    case ':':
      return step({ ...model, line: fieldOf('/') });
    default:
      return step(model);
  }
}

const isCommand = (text: string): boolean => /^\/mcp(?:\s|$)/.test(text);

/** The line at the bottom filters the list as it is typed; `/mcp …` is a command once it is sent. */
function lineKey(model: Model, line: Field, input: Input): Step {
  if ('name' in input) {
    if (input.name === 'escape') return step({ ...filtered(model, ''), line: null });
    if (input.name === 'enter') return send({ ...model, line: null }, line.value.trim());
    if (input.name === 'backspace' && line.value.length <= 1) return step({ ...filtered(model, ''), line: null });
  }
  const next = 'paste' in input ? insert(line, input.paste) : (edit(line, input) ?? line);
  return step({ ...filtered(model, next.value), line: next });
}

/** Only the list is filtered, and a command is no filter. */
function filtered(model: Model, text: string): Model {
  if (model.server !== null) return model;
  const filter = isCommand(text) ? '' : text.replace(/^[/:]/, '');
  return { ...model, list: { ...model.list, filter } };
}

function send(model: Model, text: string): Step {
  if (isCommand(text)) return typed(model, text.split(/\s+/).slice(1));
  if (model.server !== null && text !== '/')
    return step(say(model, `There is no command ${text}: /mcp, /mcp add, /mcp <server>.`, 'bad'));
  return step(filtered(model, text));
}

/** `/mcp`, `/mcp add`, `/mcp <server>`. A server that is called `add` is opened by choosing it. */
export function typed(model: Model, words: readonly string[]): Step {
  const home: Model = {
    ...model,
    server: null,
    add: null,
    client: null,
    help: null,
    list: { ...model.list, filter: '' },
  };
  const [name] = words;
  if (name === undefined) return step(home);
  if (name === 'add') return step({ ...home, add: { form: blankForm(), trial: null } });
  if (model.servers === null) return step({ ...home, opening: name });
  if (model.servers.some((server) => server.name === name)) return open(home, name);
  return step(say(home, `There is no server "${name}".`, 'bad'));
}
