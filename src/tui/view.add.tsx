/** The form for an entry, and what its test found. Pure. */
import type { ReactNode } from 'react';
import { counted, duration } from '../cli/duration.ts';
import { errorWords } from '../cli/paint.ts';
import { type Auth, entryOf, faultOf, fieldsOf, isMasked, textIn } from './entry.draft.ts';
import { fieldOf } from './field.ts';
import { bodyRows } from './layout.ts';
import { around, foreignLines, type Line, line, type Span, span, wrap } from './line.ts';
import { isChoice, labelOf } from './model.form.ts';
import type { Focus, Form, Model } from './state.ts';
import { fieldSpans, Rows } from './view.parts.tsx';

const labelWidth = 17;

const auths: Readonly<Record<Auth, string>> = {
  none: 'none',
  oauth: 'OAuth',
  bearer: 'bearer',
  'api-key': 'API key',
  basic: 'basic',
};

/** A word or two about a field that is empty. */
const hints: Readonly<Record<string, string>> = {
  name: 'letters, digits, - and _',
  command: 'npx, uvx, docker, a path …',
  args: 'as in a shell, quotes allowed',
  cwd: 'folder it runs in; empty: that of the daemon',
  url: 'https://…/mcp',
  'env.0': `KEY=VALUE; \${VAR} takes the value from the environment`,
  'headers.0': 'Name: value',
};

const secretHints: Readonly<Partial<Record<Auth, string>>> = {
  bearer: `the token, or \${VAR} to keep it out of the file`,
  'api-key': `the key, or \${VAR} to keep it out of the file`,
  basic: 'user:password, or the encoded text',
};

function choiceSpans(options: readonly (readonly [string, boolean])[], here: boolean): Line {
  return options.flatMap(([text, chosen]): Span[] => [
    chosen ? { text: ` ${text} `, tone: 'strong', marked: true } : span(` ${text} `, 'quiet'),
    span(here && chosen ? ' ' : ' '),
  ]);
}

function valueSpans(form: Form, field: Focus, width: number): Line {
  const { draft, focus } = form;
  const here = field === focus;
  if (field === 'save') return [];
  if (field === 'transport')
    return choiceSpans(
      [
        ['Local stdio', draft.transport === 'stdio'],
        ['Remote HTTP', draft.transport === 'http'],
      ],
      here,
    );
  if (field === 'auth')
    return choiceSpans(
      (Object.keys(auths) as Auth[]).map((auth) => [auths[auth], auth === draft.auth]),
      here,
    );
  const text = textIn(draft, field);
  // A variable is no secret, and `***` hides one already.
  const hidden = field === 'secret' && !form.showSecret && !/^\$\{?\w*|^\*\*\*$/.test(text);
  const spans = fieldSpans(here ? form.field : fieldOf(text), width, { focus: here, hidden });
  const hint = field === 'secret' ? secretHints[draft.auth] : hints[field];
  return text === '' && hint !== undefined ? [...spans, span(` ${hint}`, 'quiet')] : spans;
}

const titleOf = (form: Form, field: Focus): string => {
  if (field === 'save') return '';
  if (field === 'secret')
    return { bearer: 'Token', 'api-key': 'Key', basic: 'Credentials', none: '', oauth: '' }[form.draft.auth];
  // Of a list only its first line has a label.
  return /\.[1-9]\d*$/.test(field) ? '' : labelOf(field);
};

function fieldLines(model: Model, form: Form, field: Focus): readonly Line[] {
  const width = model.size.columns - labelWidth - 4;
  const here = field === form.focus;
  const mark = span(here ? ' ▸ ' : '   ', 'accent');
  if (field === 'save') {
    const text =
      form.draft.transport === 'http' && form.draft.auth === 'oauth' ? ' Save and log in ' : ' Test and save ';
    return [[], [mark, span(' '.repeat(labelWidth)), { text, tone: 'strong', marked: here }]];
  }
  const title = titleOf(form, field).padEnd(labelWidth);
  const first: Line = [mark, span(title, here ? 'strong' : 'plain'), ...valueSpans(form, field, width)];
  // An empty field is not blamed while it is being filled for the first time.
  const wrong = isChoice(field) ? null : faultOf(form.draft, field);
  const said = wrong !== null && (form.touched.has(field) || (here && textIn(form.draft, field) !== ''));
  const more: Line[] = said ? [[span(' '.repeat(labelWidth + 3)), span(`↳ ${wrong}`, 'bad')]] : [];
  if (field === 'name' && wrong === null && model.status?.some(({ name }) => name === form.draft.name))
    more.push([span(' '.repeat(labelWidth + 3)), span('↳ there is one of this name; it will be replaced', 'warn')]);
  return [first, ...more];
}

function noteLines(model: Model, form: Form): readonly Line[] {
  if (form.note !== null)
    return wrap(form.note.text, model.size.columns - 2)
      .slice(0, 2)
      .map((one) => [span(` ${one}`, form.note?.tone)]);
  if (form.of === null)
    return [
      [
        span(' Paste', 'strong'),
        span(' a JSON snippet or a command line from a README, or fill in the fields.', 'quiet'),
      ],
    ];
  const hidden = isMasked(entryOf(form.draft)) ? ' *** stands for what is stored; leave it to keep that.' : '';
  return [[span(` The entry of ${form.of}.${hidden}`, 'quiet')]];
}

function formLines(model: Model, form: Form, rows: number): readonly Line[] {
  const fields: readonly Focus[] = [...fieldsOf(form.draft, form.of !== null), 'save'];
  const blocks = fields.map((field) => fieldLines(model, form, field));
  const before = blocks.slice(0, fields.indexOf(form.focus)).flat().length;
  const notes = noteLines(model, form);
  const kept = Object.keys(form.draft.rest);
  const rest: Line[] = kept.length === 0 ? [] : [[span(`   also kept: ${kept.join(', ')}`, 'quiet')]];
  const lines = [...blocks.flat(), ...rest];
  return [...notes, [], ...around(lines, before, Math.max(1, rows - notes.length - 1)).items];
}

function testedLines(model: Model, form: Form, rows: number): readonly Line[] {
  if (form.phase.at !== 'tested') return [];
  const { result, scroll } = form.phase;
  const width = model.size.columns - 4;
  const error = result.error ? errorWords(result.error) : 'It does not work.';
  const text = (result.stderr ?? '').trimEnd();
  const stderr: readonly Line[] =
    text === ''
      ? [line('   It wrote nothing to stderr.', 'quiet')]
      : foreignLines(text, width - 2).map((one) => [span('   │ ', 'quiet'), ...one]);
  const head: readonly Line[] = [
    [span(' ✕ It does not work', 'bad'), span(': nothing was saved.')],
    [],
    ...foreignLines(error, width).map((one): Line => [span('   '), ...one]),
    [],
    ...(text === '' ? [] : [line('   What it wrote to stderr:', 'quiet')]),
  ];
  const room = Math.max(1, rows - head.length);
  // Its end says most: that is what is seen first.
  const from = Math.max(0, stderr.length - room - scroll);
  return [...head, ...stderr.slice(from, from + room)];
}

export function Add({ model, form }: { readonly model: Model; readonly form: Form }): ReactNode {
  const rows = bodyRows(model.size);
  const width = model.size.columns;
  const { phase } = form;
  if (phase.at === 'tested') return <Rows lines={testedLines(model, form, rows)} rows={rows} width={width} />;
  if (phase.at === 'testing') {
    const lines: readonly Line[] = [
      [span(' ◌ Testing the connection', 'busy'), span(` … ${duration(model.now - phase.since)}`)],
      [],
      line('   It is started, asked for its tools and ended again. Nothing is saved before.', 'quiet'),
      line('   The first start of npx, uvx or docker may have to download something.', 'quiet'),
    ];
    return <Rows lines={lines} rows={rows} width={width} />;
  }
  if (phase.at === 'saving') return <Rows lines={[line(' Saving …', 'busy')]} rows={rows} width={width} />;
  return <Rows lines={formLines(model, form, rows)} rows={rows} width={width} />;
}

/** `Add a server` or `Change memory`. */
export const titleOfForm = ({ of, draft }: Form): string =>
  of === null ? 'Add a server' : `Change ${of}${draft.name === of ? '' : ` (${counted(1, 'field')})`}`;
