/** Keys on the list of servers. Pure. */
import type { Key } from './keys.ts';
import { hasLogin, openAdd, openEdit, openLogin, openServer } from './model.open.ts';
import { listedServers, selectedIndex, selectedServer } from './server.rows.ts';
import { type Act, type Model, type Step, sorts } from './state.ts';
import { clamp, only, say } from './steps.ts';

const act = (model: Model, what: Act): Step => [model, [{ do: 'act', act: what }]];

/** Marks the server `by` rows away. */
function move(model: Model, by: number): Model {
  const rows = listedServers(model);
  const next = rows[clamp(selectedIndex(model) + by, 0, rows.length - 1)];
  return next ? { ...model, list: { ...model.list, selected: next.name } } : model;
}

/** What can be done with one server wherever it is shown; null for other keys. */
export function serverAct(model: Model, name: string, key: Key): Step | null {
  if (!('text' in key)) return null;
  switch (key.text) {
    case 'r':
      return act(say(model, `Reconnecting ${name} …`, 'busy'), { kind: 'reconnect', name });
    case 'x': {
      const disabled = model.status?.find((server) => server.name === name)?.state === 'disabled';
      return act(say(model, `${disabled ? 'Enabling' : 'Disabling'} ${name} …`, 'busy'), {
        kind: disabled ? 'enable' : 'disable',
        name,
      });
    }
    case 'd':
      return only({ ...model, asking: { about: 'remove', name } });
    case 'e':
      return openEdit(model, name);
    case 'l':
      if (hasLogin(model, name)) return openLogin(model, name);
      return only(say(model, `${name} is not a server people log in to ("auth": "oauth" in its entry).`, 'warn'));
    default:
      return null;
  }
}

export function serversKey(model: Model, key: Key): Step {
  const page = Math.max(1, model.size.rows - 8);
  if ('name' in key) {
    switch (key.name) {
      case 'up':
        return only(move(model, -1));
      case 'down':
        return only(move(model, 1));
      case 'page-up':
        return only(move(model, -page));
      case 'page-down':
        return only(move(model, page));
      case 'home':
        return only(move(model, Number.NEGATIVE_INFINITY));
      case 'end':
        return only(move(model, Number.POSITIVE_INFINITY));
      case 'enter': {
        const server = selectedServer(model);
        return server ? openServer(model, server.name) : only(model);
      }
      case 'escape':
        return only({ ...model, list: { ...model.list, filter: '' } });
      default:
        return only(model);
    }
  }
  if (!('text' in key)) return only(model);
  switch (key.text) {
    case 'j':
      return only(move(model, 1));
    case 'k':
      return only(move(model, -1));
    case 'a':
      return only(openAdd(model));
    case 'q':
      return [model, [{ do: 'quit' }]];
    case 'R':
      return act(say(model, 'Reconnecting all servers …', 'busy'), { kind: 'reconnect', name: null });
    case 's': {
      const sort = sorts[(sorts.indexOf(model.list.sort) + 1) % sorts.length] ?? 'name';
      return only({ ...model, list: { ...model.list, sort } });
    }
    default: {
      const server = selectedServer(model);
      return (server && serverAct(model, server.name, key)) ?? only(model);
    }
  }
}
