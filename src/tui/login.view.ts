/** A login, drawn. The address stands without a frame and from the first column on, so that it can be copied. Pure. */
import { oneLine } from '../cli/paint.ts';
import { fieldSpans } from './field.view.ts';
import { foreign, foreignLines, type Line, line, span, unbroken } from './line.ts';
import type { Model } from './model.ts';

export function loginView({ login, columns, now }: Model, height: number): readonly Line[] {
  if (login === null) return [];
  const title: Line = [span(' Login to '), foreign(login.name, 'strong')];
  const seconds = Math.max(0, Math.floor((now - login.since) / 1000));
  const field: Line = [span(' › ', 'accent'), ...fieldSpans(login.field, Math.max(10, columns - 4), true)];
  const said = login.said
    ? foreignLines(oneLine(login.said.text), columns - 2, login.said.tone).map((one): Line => [span(' '), ...one])
    : [];
  if (login.url === null)
    return [[], title, [], line(` Asking the server where to log in … ${seconds} s`, 'quiet'), [], field, [], ...said];
  const how: Line = [
    span(' Open this address: '),
    span('o', 'accent'),
    span(' in your browser here, '),
    span('c', 'accent'),
    span(' copies it'),
  ];
  const address = unbroken(oneLine(login.url), columns);
  const all: readonly Line[] = [
    [],
    title,
    [],
    how,
    [],
    ...address,
    [],
    line(' Waiting until the browser comes back …', 'quiet'),
    [],
    line(' If the browser cannot come back to this machine, paste the address it ended at:'),
    field,
    ...(said.length > 0 ? [[], ...said] : []),
  ];
  if (all.length <= height) return all;
  // The address, the field and what went wrong are what it is about.
  const least = [how, ...address, line(' Or paste the address it ended at:'), field, ...said];
  return least.length <= height ? least : [field, ...said, ...address];
}
