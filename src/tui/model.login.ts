/** Logging in, and giving a client that was registered by hand. Pure. */
import { edit, fieldOf, insert } from './field.ts';
import type { Key } from './keys.ts';
import { backToServer } from './model.open.ts';
import type { ClientField, ClientForm, Login, Message, Model, Step } from './state.ts';
import { clamp, only, say, show } from './steps.ts';

const withLogin = (model: Model, change: (login: Login) => Login): Model =>
  model.screen.at === 'login' ? show(model, { at: 'login', login: change(model.screen.login) }) : model;

/** The paste field takes every key at any time; `o` opens the browser while the field is empty. */
export function loginKey(model: Model, login: Login, key: Key): Step {
  const { name, url, field, ended } = login;
  if ('name' in key && key.name === 'escape') {
    const [next, commands] = backToServer(model, name, 'login');
    return [next, ended === null ? [{ do: 'leave-login' }, ...commands] : commands];
  }
  if (ended !== null) {
    if ('name' in key && key.name === 'enter') return backToServer(model, name, ended.ok ? 'tools' : 'login');
    return only(model);
  }
  if ('text' in key && key.text === 'o' && field.value === '')
    return url === null ? only(model) : [model, [{ do: 'open', url }]];
  if ('name' in key && key.name === 'enter') {
    const address = field.value.trim();
    if (address === '') return only(model);
    const sent = withLogin(model, (one) => ({ ...one, note: 'Handing it over …' }));
    return [sent, [{ do: 'act', act: { kind: 'callback', name, url: address } }]];
  }
  const next = edit(field, key);
  return only(next === null ? model : withLogin(model, (one) => ({ ...one, field: next, note: null })));
}

export const loginPaste = (model: Model, text: string): Step =>
  only(
    withLogin(model, (login) =>
      login.ended === null ? { ...login, field: insert(login.field, text.trim()), note: null } : login,
    ),
  );

/** The login goes on wherever the person is: only its own screen shows it, and its end is told everywhere. */
export function loginFrame(model: Model, { name, frame }: Extract<Message, { is: 'login' }>): Step {
  const here = model.screen.at === 'login' && model.screen.login.name === name;
  if ('url' in frame) return only(here ? withLogin(model, (login) => ({ ...login, url: frame.url })) : model);
  if (here) return only(withLogin(model, (login) => ({ ...login, ended: frame, note: null })));
  return only(
    frame.ok ? say(model, `Logged in to ${name}.`, 'good') : say(model, frame.error ?? 'The login ended.', 'warn'),
  );
}

export const browserOpened = (model: Model, ok: boolean): Model =>
  withLogin(model, (login) => ({ ...login, browser: ok ? 'opened' : 'none' }));

export const callbackRefused = (model: Model, text: string): Model =>
  withLogin(model, (login) => ({ ...login, note: text }));

export const callbackTaken = (model: Model): Model =>
  withLogin(model, (login) => ({ ...login, field: fieldOf(), note: 'It was taken. One moment …' }));

// The client

const places: readonly ClientField[] = ['id', 'secret', 'redirect', 'save'];

const withClient = (model: Model, form: ClientForm): Model => show(model, { at: 'client', form });

const focusOn = (form: ClientForm, focus: ClientField): ClientForm => ({
  ...form,
  focus,
  field: fieldOf(focus === 'save' ? '' : form[focus]),
});

/** What is wrong with the form; null when nothing is. */
export function clientFault({ id, redirect }: ClientForm): { field: ClientField; message: string } | null {
  if (id.trim() === '') return { field: 'id', message: 'the server needs to know its client: an id is missing' };
  const url = URL.canParse(redirect) ? new URL(redirect) : null;
  const here = url !== null && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url?.protocol !== 'http:' || !here || url.port === '')
    return { field: 'redirect', message: 'it must be http on this machine, with a port' };
  return null;
}

export function clientKey(model: Model, form: ClientForm, key: Key): Step {
  if (form.busy) return only(model);
  if ('name' in key) {
    const by = { up: -1, 'back-tab': -1, down: 1, tab: 1 }[key.name as string];
    if (by !== undefined) {
      const next = places[clamp(places.indexOf(form.focus) + by, 0, places.length - 1)] ?? 'save';
      return only(withClient(model, focusOn(form, next)));
    }
    if (key.name === 'escape') return backToServer(model, form.name, 'login');
    if (key.name === 'enter') {
      if (form.focus !== 'save') {
        const next = places[places.indexOf(form.focus) + 1] ?? 'save';
        return only(withClient(model, focusOn(form, next)));
      }
      const wrong = clientFault(form);
      if (wrong) return only(withClient(model, { ...focusOn(form, wrong.field), note: wrong.message }));
      const { name, id, secret, redirect } = form;
      return [
        withClient(model, { ...form, busy: true, note: null }),
        [{ do: 'act', act: { kind: 'client', name, id: id.trim(), secret, redirect: redirect.trim() } }],
      ];
    }
  }
  if (form.focus === 'save') return only(model);
  const field = edit(form.field, key);
  return only(field === null ? model : withClient(model, { ...form, field, note: null, [form.focus]: field.value }));
}

export function clientPaste(model: Model, form: ClientForm, text: string): Step {
  if (form.busy || form.focus === 'save') return only(model);
  const field = insert(form.field, text.trim());
  return only(withClient(model, { ...form, field, note: null, [form.focus]: field.value }));
}

export const clientRefused = (model: Model, text: string): Model =>
  model.screen.at === 'client' ? withClient(model, { ...model.screen.form, busy: false, note: text }) : model;
