/** Keys of a login, and of the client for it. Pure. */
import { edit, insert } from './field.ts';
import type { Input } from './keys.ts';
import { type ClientForm, type LoginScreen, type Model, type Step, say, step } from './model.ts';

const withLogin = (model: Model, change: Partial<LoginScreen>): Model =>
  model.login === null ? model : { ...model, login: { ...model.login, ...change } };

/** What is pasted or typed goes into the field at any time; `o` and `c` mean something while it is empty. */
export function loginKey(model: Model, login: LoginScreen, input: Input): Step {
  if ('paste' in input) return step(withLogin(model, { field: insert(login.field, input.paste.trim()) }));
  const { url, field, name } = login;
  if ('name' in input && input.name === 'escape') {
    return step(say({ ...model, login: null }, 'The login was given up.', 'quiet'), { do: 'end-login' });
  }
  if ('name' in input && input.name === 'enter') {
    const pasted = field.value.trim();
    if (pasted === '') return url === null ? step(model) : step(model, { do: 'open', url });
    return step(withLogin(model, { said: null }), { do: 'paste-callback', name, url: pasted });
  }
  if ('text' in input && field.value === '' && url !== null) {
    if (input.text === 'o') return step(model, { do: 'open', url });
    if (input.text === 'c') return step(model, { do: 'copy', text: url });
  }
  return step(withLogin(model, { field: edit(field, input) ?? field }));
}

/** Keys of the form for a client that was registered by hand. */
export function clientKey(model: Model, form: ClientForm, name: string, input: Input): Step {
  const { fields, focus } = form;
  const go = (to: number): Step => step({ ...model, client: { ...form, focus: (to + fields.length) % fields.length } });
  const current = fields[focus] ?? fields[0];
  const put = (field: typeof current): Step =>
    step({
      ...model,
      client: {
        ...form,
        fields: fields.map((one, index) => (index === focus ? field : one)) as unknown as ClientForm['fields'],
      },
    });
  if ('paste' in input) return put(insert(current, input.paste.trim()));
  if ('name' in input) {
    switch (input.name) {
      case 'escape':
        return step({ ...model, client: null });
      case 'down':
      case 'tab':
        return go(focus + 1);
      case 'up':
      case 'back-tab':
        return go(focus - 1);
      case 'enter':
        return focus < fields.length - 1 ? go(focus + 1) : send(model, form, name);
    }
  }
  if ('ctrl' in input && input.ctrl === 's') return send(model, form, name);
  return put(edit(current, input) ?? current);
}

function send(model: Model, { fields }: ClientForm, name: string): Step {
  const [id, secret, redirect] = fields.map(({ value }) => value.trim());
  if (!id) return step(say(model, 'The client id is missing.', 'bad'));
  return step(model, { do: 'give-client', name, id, secret: secret ?? '', redirect: redirect ?? '' });
}
