/** The form of a server, drawn. Pure. */
import { fieldSpans } from './field.view.ts';
import { type Form, faultOf, isField, type Row, rowsOf } from './form.ts';
import { cell, foreign, foreignLines, type Line, line, type Span, span } from './line.ts';
import type { AddScreen, Model, Trial } from './model.ts';

const titles: Readonly<Record<Row, string>> = {
  name: 'Name',
  transport: 'Transport',
  command: 'Command',
  args: 'Arguments',
  env: 'Environment',
  url: 'URL',
  auth: 'Login',
  secret: 'Value',
  header: 'Header name',
  headers: 'Headers',
  save: '',
};

const hints: Readonly<Record<Row, string>> = {
  name: 'letters, digits, - and _; each of its tools is named after it',
  transport: '← → or Space chooses',
  command: 'the program alone, such as npx',
  args: "as in a shell: -y some-package '/a folder'",
  env: 'NAME=value OTHER=value; KEY=$KEY keeps a secret out of the file',
  url: 'https://…, as the server tells it',
  auth: '← → or Space chooses',
  secret: 'hidden; $NAME instead keeps it out of the file',
  header: 'the header that carries the key',
  headers: "Name=value 'Other=value with blanks'",
  save: '',
};

const transportNames = { stdio: 'Local stdio', http: 'Remote HTTP' } as const;
const authNames = { none: 'none', oauth: 'OAuth', bearer: 'bearer', 'api-key': 'API key', basic: 'basic' } as const;

function choice<Name extends string>(names: Readonly<Record<Name, string>>, now: Name): readonly Span[] {
  return (Object.entries(names) as [Name, string][]).map(([key, name]) =>
    span(`${key === now ? '(•)' : '( )'} ${name}  `, key === now ? 'strong' : 'quiet'),
  );
}

function content(form: Form, row: Row, width: number, focused: boolean): readonly Span[] {
  if (row === 'transport') return choice(transportNames, form.transport);
  if (row === 'auth') return choice(authNames, form.auth);
  if (!isField(row))
    return [
      { ...span('[ Test and save ]', focused ? 'strong' : 'plain'), marked: focused },
      span('  or Ctrl-S anywhere', 'quiet'),
    ];
  return fieldSpans(form.fields[row], width, focused, row === 'secret' && !form.fields.secret.value.includes('${'));
}

/** What is missing is said once the person has left the row; what is wrong at once. */
function faultLine(form: Form, row: Row, taken: readonly string[]): string | null {
  const fault = faultOf(form, row, taken);
  const empty = isField(row) && form.fields[row].value.trim() === '';
  return empty && (row === form.focus || !form.seen.includes(row)) ? null : fault;
}

function rowLines(model: Model, form: Form, row: Row): readonly Line[] {
  const focused = row === form.focus;
  const fault = faultLine(form, row, Object.keys(model.entries));
  const below: Line[] = [];
  if (fault !== null)
    foreignLines(fault, model.columns - 20, 'bad').forEach((one, index) => {
      below.push([span(index === 0 ? '                  ✗ ' : '                    ', 'bad'), ...one]);
    });
  else if (focused && hints[row] !== '') below.push([span('                  '), span(hints[row], 'quiet')]);
  const title =
    row === 'secret' && form.auth !== 'api-key' ? (form.auth === 'bearer' ? 'Token' : 'user:pass base64') : titles[row];
  return [
    [
      span(focused ? ' › ' : '   ', 'accent'),
      cell(title, 13, focused ? 'strong' : 'plain'),
      span('  '),
      ...content(form, row, Math.max(10, model.columns - 20), focused),
    ],
    ...below,
  ];
}

function trialLines(model: Model, form: Form, trial: Trial | 'trying' | null): readonly Line[] {
  if (trial === null) return [];
  if (trial === 'trying')
    return [
      [],
      line(
        form.transport === 'stdio'
          ? ' It is started, asked for its tools and stopped again …'
          : ' It is connected to and asked for its tools …',
        'busy',
      ),
    ];
  if (trial.ok) return [];
  const stderr = trial.stderr.trim();
  return [
    [],
    ...foreignLines(`✗ It did not work: ${trial.error ?? 'no reason was given'}`, model.columns - 2, 'bad')
      .slice(0, 3)
      .map((one): Line => [span(' '), ...one]),
    ...(form.transport === 'http'
      ? []
      : [line(stderr === '' ? ' It wrote nothing to stderr.' : ' It wrote to stderr:', 'quiet')]),
    ...foreignLines(stderr, model.columns - 4)
      .slice(-8)
      .filter((one) => one.length > 0)
      .map((one): Line => [span('  │ ', 'quiet'), ...one]),
    [],
    [
      span(' s', 'accent'),
      span(' save it all the same   '),
      span('t', 'accent'),
      span(' try again   '),
      span('Enter', 'accent'),
      span(' back to the form'),
    ],
  ];
}

function explained(form: Form): readonly Line[] {
  if (form.editing !== null) return [line(' A value *** stays as it is stored.', 'quiet')];
  return [line(' The JSON or the command line of a README can be pasted here as it is.', 'quiet')];
}

export function addView(model: Model, height: number): readonly Line[] {
  const { form, trial } = model.add as AddScreen;
  const title: Line =
    form.editing === null ? [span(' Add a server', 'strong')] : [span(' Change '), foreign(form.editing, 'strong')];
  const blocks = rowsOf(form).map((row) => rowLines(model, form, row));
  const rows = blocks.flat();
  const after = trialLines(model, form, trial);
  const air = height >= 14;
  const head = air ? [[], title, ...explained(form), []] : [title];
  // What came of the trial matters most: the form gives way, and the row that is typed in stays in sight.
  const room = Math.max(trial === null ? 1 : 0, height - head.length - after.length);
  const at = rowsOf(form).indexOf(form.focus);
  const top = blocks.slice(0, Math.max(0, at)).flat().length;
  const bottom = top + (blocks[at]?.length ?? 1);
  const from = Math.max(0, Math.min(rows.length - room, top, Math.max(bottom - room, top - Math.floor(room / 2))));
  return [...head, ...rows.slice(from, from + room), ...after];
}
