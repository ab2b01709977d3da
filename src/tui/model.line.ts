/** What is typed after `/`: a filter as it is typed, or `mcp`, `mcp add`, `mcp <server>` with Enter. Pure. */
import { didYouMean } from '../cli/suggest.ts';
import { edit, type Field, fieldOf } from './field.ts';
import type { Key } from './keys.ts';
import { openAdd, openServer, openServers } from './model.open.ts';
import type { Model, Step } from './state.ts';
import { only, say, then, withOpened } from './steps.ts';

/** Screens on which `/` begins a line; on the others it is a letter like any other. */
export const takesLine = ({ screen }: Pick<Model, 'screen'>): boolean =>
  screen.at === 'servers' || screen.at === 'server';

export const beginLine = (model: Model): Model => ({ ...model, typing: fieldOf() });

const isCommand = (text: string): boolean => /^mcp(?:\s|$)/.test(text);

/** What the line filters where it filters anything. */
function filtered(model: Model, text: string): Model {
  const filter = isCommand(text) ? '' : text;
  if (model.screen.at === 'servers') return { ...model, list: { ...model.list, filter } };
  return withOpened(model, (opened) =>
    opened.tab === 'tools' ? { ...opened, tools: { ...opened.tools, filter, cursor: 0 } } : opened,
  );
}

export function lineKey(model: Model, line: Field, key: Key): Step {
  if ('name' in key && key.name === 'escape') return only(filtered({ ...model, typing: null }, ''));
  if ('name' in key && key.name === 'enter') return run({ ...model, typing: null }, line.value.trim());
  if ('name' in key && key.name === 'backspace' && line.value === '')
    return only(filtered({ ...model, typing: null }, ''));
  const next = edit(line, key);
  return next === null ? only(model) : only(filtered({ ...model, typing: next }, next.value));
}

export function run(model: Model, text: string): Step {
  const [command, word, ...more] = text.split(/\s+/).filter(Boolean);
  const filters =
    model.screen.at === 'servers' || (model.screen.at === 'server' && model.screen.opened.tab === 'tools');
  if (command !== 'mcp') {
    if (filters || text === '') return only(model);
    return only(say(model, 'Here go: mcp, mcp add, mcp <server>.', 'warn'));
  }
  if (word === undefined) return only(openServers({ ...model, list: { ...model.list, filter: '' } }));
  if (word === 'add' && more.length === 0) return only(openAdd(model));
  const names = (model.status ?? []).map(({ name }) => name);
  if (more.length === 0 && names.includes(word)) return openServer(model, word);
  return only(say(model, `There is no server "${word}".${didYouMean(word, names)}`, 'warn'));
}

/** What the view is opened with: nothing, `add`, or a server. */
export const begin = (model: Model, words: readonly string[]): Step =>
  then(only(model), (next) => run(next, ['mcp', ...words].join(' ')));
