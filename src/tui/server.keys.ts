/** Keys of an opened server. Pure. */
import { fieldOf } from './field.ts';
import { formOf } from './form.ts';
import { grantRows, isChanged, toggle } from './grants.ts';
import type { Input } from './keys.ts';
import { aboutServerKey } from './list.keys.ts';
import { type Model, type ServerScreen, type Step, say, step, type Tab, TO_END, tabs } from './model.ts';
import { travel } from './timeline.ts';

const withServer = (model: Model, server: ServerScreen): Model => ({ ...model, server });

/** How many lines the body of a tab has. */
export const tabRoom = ({ rows }: Model): number => Math.max(3, rows - 11);

/** The step after a key; null when an opened server has no use for it. */
export function serverKey(model: Model, screen: ServerScreen, input: Input): Step | null {
  const own = screen.tab === 'tools' ? toolsKey(model, screen, input) : null;
  if (own !== null) return own;
  if ('name' in input) {
    switch (input.name) {
      case 'escape':
        return screen.at === null ? close(model, screen) : goTo(model, screen, null);
      case 'tab':
      case 'back-tab': {
        const shown = tabsOf(model, screen.name);
        const by = input.name === 'tab' ? 1 : shown.length - 1;
        return toTab(model, screen, shown[(shown.indexOf(screen.tab) + by) % shown.length] ?? 'tools');
      }
      case 'left':
        return goTo(model, screen, travel(screen, -1));
      case 'right':
        return screen.at === null ? step(model) : goTo(model, screen, travel(screen, 1));
      default:
        return scrollKey(model, screen, input.name);
    }
  }
  return 'text' in input ? serverLetter(model, screen, input.text) : null;
}

function close(model: Model, screen: ServerScreen): Step {
  const list = { ...model.list, selected: screen.name };
  const unsaved = screen.grants !== null && isChanged(screen.grants);
  const next = { ...model, server: null, list };
  return step(unsaved ? say(next, 'The ticks were not saved: Enter saves them.', 'quiet') : next);
}

function scrollKey(model: Model, screen: ServerScreen, name: string): Step | null {
  const page = tabRoom(model);
  const by = { up: -1, down: 1, 'page-up': -page, 'page-down': page }[name];
  if (screen.tab === 'timeline') {
    if (name === 'home') return goTo(model, screen, travel(screen, Number.NEGATIVE_INFINITY));
    if (name === 'end') return goTo(model, screen, null);
    return by === undefined ? null : goTo(model, screen, travel(screen, by));
  }
  if (name === 'home') return step(withServer(model, { ...screen, scroll: 0 }));
  if (name === 'end') return step(withServer(model, { ...screen, scroll: TO_END }));
  if (by === undefined) return null;
  return step(withServer(model, { ...screen, scroll: Math.max(0, screen.scroll + by) }));
}

/** Goes to another moment; everything shown is asked for as it was then. */
function goTo(model: Model, screen: ServerScreen, at: number | null): Step {
  if (at === screen.at) return step(model);
  const { name } = screen;
  return step(
    withServer(model, { ...screen, at, asOf: at === null ? null : screen.asOf }),
    { do: 'load-as-of', name, at },
    { do: 'load-why', name, at },
    { do: 'load-tools', name, at },
  );
}

function toTab(model: Model, screen: ServerScreen, tab: Tab): Step {
  if (!tabsOf(model, screen.name).includes(tab))
    return step(say(model, 'It needs no login: its entry does not say "auth": "oauth".', 'quiet'));
  if (tab !== 'stderr') return step(withServer(model, { ...screen, tab, scroll: 0 }));
  return step(withServer(model, { ...screen, tab, scroll: TO_END }), { do: 'load-stderr', name: screen.name });
}

/** The tabs a server has: only some can be logged in to. */
export const tabsOf = (model: Model, name: string): readonly Tab[] =>
  tabs.filter((tab) => tab !== 'login' || isOauth(model, name));

function serverLetter(model: Model, screen: ServerScreen, letter: string): Step | null {
  const { name } = screen;
  const tab = tabs[Number(letter) - 1];
  if (tab !== undefined) return toTab(model, screen, tab);
  if (letter === 'q') return close(model, screen);
  if (letter === 'j') return scrollKey(model, screen, 'down');
  if (letter === 'k') return scrollKey(model, screen, 'up');
  if (letter === 'e') {
    const entry = model.entries[name];
    if (entry === undefined) return step(say(model, `${name} has no entry that can be changed.`, 'bad'));
    return step({ ...model, add: { form: formOf(name, entry, name), trial: null } });
  }
  if (screen.tab === 'login') return loginLetter(model, screen, letter) ?? aboutServerKey(model, name, letter);
  return aboutServerKey(model, name, letter);
}

/** Whether the server can be logged in to. */
export const isOauth = ({ entries }: Model, name: string): boolean => entries[name]?.auth === 'oauth';

function loginLetter(model: Model, { name }: ServerScreen, letter: string): Step | null {
  if (!isOauth(model, name)) return null;
  switch (letter) {
    case 'l':
      return startLogin(model, name);
    case 'o':
      return step({
        ...model,
        question: {
          text: `Log out of ${name}?`,
          about: 'The stored token is deleted; the server has to be logged in to again.',
          yes: [{ do: 'log-out', name }],
        },
      });
    case 'c':
      return step({
        ...model,
        client: { fields: [fieldOf(), fieldOf(), fieldOf(model.redirect)], focus: 0 },
      });
    default:
      return null;
  }
}

/** Begins a login and shows it. */
export const startLogin = (model: Model, name: string): Step =>
  step(
    { ...model, client: null, login: { name, url: null, field: fieldOf(), said: null, since: model.now } },
    { do: 'log-in', name },
  );

function toolsKey(model: Model, screen: ServerScreen, input: Input): Step | null {
  const { tools, grants, name, at } = screen;
  if (tools === null || grants === null) return null;
  const rows = grantRows(name, tools, grants);
  const go = (row: number): Step =>
    step(withServer(model, { ...screen, row: Math.min(rows.length - 1, Math.max(0, row)) }));
  if ('name' in input) {
    const page = tabRoom(model);
    const to = {
      up: screen.row - 1,
      down: screen.row + 1,
      'page-up': screen.row - page,
      'page-down': screen.row + page,
    };
    if (input.name in to) return go(to[input.name as keyof typeof to]);
    if (input.name === 'home') return go(0);
    if (input.name === 'end') return go(rows.length - 1);
    if (input.name !== 'enter') return null;
    if (at !== null) return step(say(model, 'This is the past: Esc goes back to now.', 'quiet'));
    if (!isChanged(grants)) return step(say(model, 'Nothing was ticked or unticked; Space does.', 'quiet'));
    return step(model, { do: 'grant', name, entries: grants.ticked });
  }
  if (!('text' in input)) return null;
  if (input.text === 'j') return go(screen.row + 1);
  if (input.text === 'k') return go(screen.row - 1);
  if (input.text !== ' ') return null;
  if (at !== null) return step(say(model, 'This is the past: Esc goes back to now.', 'quiet'));
  const row = rows[Math.min(screen.row, rows.length - 1)];
  return row === undefined ? step(model) : step(withServer(model, { ...screen, grants: toggle(row, grants) }));
}
