/** What became of what was asked of the daemon. Pure. */
import { counted } from '../cli/duration.ts';
import { errorWords } from '../cli/paint.ts';
import { isOauth } from '../config/entry.texts.ts';
import { tested } from './model.form.ts';
import { callbackRefused, callbackTaken, clientRefused } from './model.login.ts';
import { openLogin, openServer, openServers } from './model.open.ts';
import type { Act, Load, Message, Model, Step } from './state.ts';
import { only, say, then, want, wantAll, withForm, withOpened } from './steps.ts';

const reload: readonly Load[] = [
  { do: 'load', what: 'status' },
  { do: 'load', what: 'config' },
];

export function done(model: Model, { act, reconnected, tested: result }: Extract<Message, { is: 'done' }>): Step {
  switch (act.kind) {
    case 'reconnect':
      return wantAll(reconnectedText(model, act.name, reconnected?.servers ?? []), reload);
    case 'enable':
      return wantAll(say(model, `${act.name} is enabled.`, 'good'), reload);
    case 'disable':
      return wantAll(say(model, `${act.name} is disabled; its entry stays.`), reload);
    case 'remove': {
      const here = model.screen.at === 'server' && model.screen.opened.name === act.name;
      const next = here ? openServers(model) : model;
      const selected = next.list.selected === act.name ? null : next.list.selected;
      return wantAll(say({ ...next, list: { ...next.list, selected } }, `${act.name} is removed.`), reload);
    }
    case 'logout':
      return wantAll(say(model, `Logged out of ${act.name}.`), reload);
    case 'grant':
      return granted(model, act);
    case 'approve':
    case 'deny':
      return want(decided(model, act), { do: 'load', what: 'held' });
    case 'test':
      return result ? tested(model, act.attempt, result) : only(model);
    case 'save':
      return saved(model, act);
    case 'client':
      return openLogin(say(model, 'The client is kept; now the login.', 'good'), act.name);
    case 'callback':
      return only(callbackTaken(model));
    case 'start-daemon':
      return only({ ...model, daemon: { ...model.daemon, starting: false } });
  }
}

export function failed(model: Model, { act, text }: Extract<Message, { is: 'failed' }>): Step {
  const told = say(model, text, 'bad');
  switch (act.kind) {
    case 'test':
    case 'save':
      return only(withForm(model, (form) => ({ ...form, phase: { at: 'form' }, note: { text, tone: 'bad' } })));
    case 'client':
      return only(clientRefused(model, text));
    case 'callback':
      return only(callbackRefused(model, text));
    case 'approve':
    case 'deny':
      return want({ ...told, held: { ...told.held, deciding: null, reason: null } }, { do: 'load', what: 'held' });
    case 'start-daemon':
      return only({ ...told, daemon: { ...told.daemon, starting: false } });
    default:
      return only(told);
  }
}

type Servers = NonNullable<Extract<Message, { is: 'done' }>['reconnected']>['servers'];

function reconnectedText(model: Model, name: string | null, servers: Servers): Model {
  const lost = servers.filter(({ ok }) => !ok);
  if (name !== null) {
    const [one] = servers;
    if (one === undefined || one.ok) return say(model, `${name} is ready.`, 'good');
    return say(model, `${name} is ${one.state}${one.error ? `: ${errorWords(one.error)}` : ''}`, 'bad');
  }
  if (lost.length === 0) return say(model, `${counted(servers.length, 'server')} reconnected.`, 'good');
  return say(
    model,
    `${lost.length} of ${servers.length} did not come back: ${lost.map((one) => one.name).join(', ')}`,
    'bad',
  );
}

function granted(model: Model, { name, entries }: Extract<Act, { kind: 'grant' }>): Step {
  const whole = entries.some((entry) => entry.endsWith('__*'));
  const text = whole
    ? `Every tool of ${name} runs without asking, also those that come later.`
    : entries.length === 0
      ? `Every call of ${name} asks.`
      : `${counted(entries.length, 'tool')} of ${name} ${entries.length === 1 ? 'runs' : 'run'} without asking.`;
  const next = withOpened(say(model, text, 'good'), (opened) =>
    opened.name === name ? { ...opened, tools: { ...opened.tools, ticked: null, entries } } : opened,
  );
  return wantAll(next, [
    { do: 'load', what: 'grants', name },
    { do: 'load', what: 'tools', name, at: null },
  ]);
}

function decided(model: Model, act: Extract<Act, { kind: 'approve' | 'deny' }>): Model {
  const call = model.held.calls.find(({ id }) => id === act.id);
  const name = call?.name ?? act.id;
  const calls = model.held.calls.filter(({ id }) => id !== act.id);
  const next: Model = {
    ...model,
    // The next call is not decided by what was meant for this one.
    held: { ...model.held, calls, deciding: null, reason: null, scroll: 0, armedAt: model.now + 300 },
  };
  if (act.kind === 'deny') return say(next, `Denied: ${name}`, 'warn');
  const texts = {
    once: `Approved once: ${name}`,
    tool: `Approved, and from now on without asking: ${name}`,
    server: `Approved, and from now on every tool of ${call?.server ?? 'its server'}`,
  };
  return say(next, texts[act.remember], 'good');
}

/** What was saved is looked at; a server people log in to is logged in to at once. */
function saved(model: Model, { name, entry }: Extract<Act, { kind: 'save' }>): Step {
  const changed = model.screen.at === 'add' && model.screen.form.of !== null;
  const told = say(model, `${name} is ${changed ? 'changed' : 'added'}; it connects now.`, 'good');
  if (typeof entry.auth === 'string' && isOauth(entry.auth) && !changed)
    return then(openLogin(told, name), (next) => wantAll(next, reload));
  return then(openServer(told, name, changed ? 'timeline' : 'tools'), (next) => wantAll(next, reload));
}
