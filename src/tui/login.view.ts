/** A login, drawn. The address stands without a frame and from the first column on, so that it can be copied. Pure. */
import { oneLine } from '../cli/paint.ts';
import { fieldSpans } from './field.view.ts';
import { foreign, type Line, line, span, unbroken } from './line.ts';
import type { Model } from './model.ts';

export function loginView({ login, columns, now }: Model, _height: number): readonly Line[] {
  if (login === null) return [];
  const title: Line = [span(' Login to '), foreign(login.name, 'strong')];
  const seconds = Math.max(0, Math.floor((now - login.since) / 1000));
  const address =
    login.url === null
      ? [line(` Asking the server where to log in … ${seconds} s`, 'quiet')]
      : [
          [
            span(' Open this address: '),
            span('o', 'accent'),
            span(' in your browser here, '),
            span('c', 'accent'),
            span(' copies it'),
          ],
          [],
          ...unbroken(oneLine(login.url), columns),
          [],
          line(' Waiting until the browser comes back …', 'quiet'),
        ];
  return [
    [],
    title,
    [],
    ...address,
    [],
    line(' If the browser cannot come back to this machine, paste the address it ended at:'),
    [span(' › ', 'accent'), ...fieldSpans(login.field, Math.max(10, columns - 4), true)],
    ...(login.said ? [[], [span(' '), foreign(login.said.text, login.said.tone)]] : []),
  ];
}
