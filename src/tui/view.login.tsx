/** A login, and the client for one. Pure. */
import type { ReactNode } from 'react';
import { oneLine } from '../cli/paint.ts';
import { fieldOf } from './field.ts';
import { bodyRows } from './layout.ts';
import { foreignLines, type Line, line, span, wrap } from './line.ts';
import type { ClientField, ClientForm, Login, Model } from './state.ts';
import { fieldSpans, Rows } from './view.parts.tsx';

/**
 * The address in pieces as wide as the screen, from the first column on and with nothing around it: the painter lets the
 * terminal itself break it, so that it is copied as one line.
 */
function addressLines(url: string, width: number): readonly Line[] {
  const text = oneLine(url).replace(/\s/g, '');
  const count = Math.ceil(text.length / width);
  return Array.from({ length: count }, (_, index) => line(text.slice(index * width, (index + 1) * width)));
}

function endLines({ name, ended }: Login, width: number): readonly Line[] {
  if (ended === null) return [];
  if (!ended.ok)
    return [
      [span(' ✕ ', 'bad'), span('The login did not succeed.', 'bad')],
      ...foreignLines(ended.error ?? '', width - 3).map((one): Line => [span('   '), ...one]),
    ];
  const trouble = ended.reconnect_error;
  return [
    [span(' ● ', 'good'), span(`You are logged in to ${name}.`, 'good')],
    ...(trouble === undefined
      ? []
      : foreignLines(`It is not ready all the same: ${trouble}`, width - 3, 'warn').map(
          (one): Line => [span('   '), ...one],
        )),
  ];
}

function loginLines(login: Login, width: number): readonly Line[] {
  const { url, browser, field, note, ended } = login;
  if (ended !== null) return endLines(login, width);
  if (url === null) return [line(' ◌ Asking the server where to log in …', 'busy')];
  const opened = {
    opened: ' Your browser opens this address:',
    none: ' No browser could be opened here; open this address yourself:',
    unasked: ' Open this address in your browser (o opens it):',
  }[browser ?? 'unasked'];
  return [
    line(opened, browser === 'none' ? 'warn' : 'plain'),
    [],
    ...addressLines(url, width),
    [],
    line(' Waiting for the browser to come back …', 'busy'),
    [],
    ...wrap('If it ends on a page that cannot be reached, paste the address of that page here:', width - 2).map((one) =>
      line(` ${one}`, 'quiet'),
    ),
    [span(' ▸ ', 'accent'), ...fieldSpans(field, width - 4)],
    ...(note === null ? [] : foreignLines(note, width - 4, 'warn').map((one): Line => [span('   '), ...one])),
  ];
}

export function LoginScreen({ model, login }: { readonly model: Model; readonly login: Login }): ReactNode {
  const width = model.size.columns;
  return <Rows lines={loginLines(login, width)} rows={bodyRows(model.size)} width={width} />;
}

const labels: Readonly<Record<ClientField, string>> = {
  id: 'Client id',
  secret: 'Client secret',
  redirect: 'Redirect URI',
  save: '',
};

function clientLines(form: ClientForm, width: number): readonly Line[] {
  const fields: readonly Exclude<ClientField, 'save'>[] = ['id', 'secret', 'redirect'];
  const label = 15;
  const lines = fields.map((field): Line => {
    const here = form.focus === field;
    const value = here ? form.field : fieldOf(form[field]);
    const hint = form[field] === '' && field === 'secret' ? [span(' only if there is one', 'quiet')] : [];
    return [
      span(here ? ' ▸ ' : '   ', 'accent'),
      span(labels[field].padEnd(label), here ? 'strong' : 'plain'),
      ...fieldSpans(value, width - label - 4, { focus: here, hidden: field === 'secret' }),
      ...hint,
    ];
  });
  const here = form.focus === 'save';
  const button: Line = [
    span(here ? ' ▸ ' : '   ', 'accent'),
    span(' '.repeat(label)),
    { text: ' Keep it and log in ', tone: 'strong', marked: here },
  ];
  const note: readonly Line[] =
    form.note === null ? [] : foreignLines(form.note, width - 2, 'bad').map((one): Line => [span(' '), ...one]);
  return [
    ...wrap(
      `A client you registered by hand in the console of ${form.name}. Register exactly this redirect URI there.`,
      width - 2,
    ).map((one) => line(` ${one}`, 'quiet')),
    [],
    ...lines,
    [],
    form.busy ? line('   Keeping it …', 'busy') : button,
    [],
    ...note,
  ];
}

export function Client({ model, form }: { readonly model: Model; readonly form: ClientForm }): ReactNode {
  const width = model.size.columns;
  return <Rows lines={clientLines(form, width)} rows={bodyRows(model.size)} width={width} />;
}
