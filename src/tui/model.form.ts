/** Making and changing an entry: fields, what is pasted into them, the test before it is saved. Pure. */
import { suggestName } from '../config/names.ts';
import {
  auths,
  type Draft,
  draftOf,
  entryOf,
  type FieldId,
  fieldsOf,
  firstFault,
  textIn,
  tidy,
  withValue,
} from './entry.draft.ts';
import { readPasted } from './entry.paste.ts';
import { edit, fieldOf, insert } from './field.ts';
import type { Key } from './keys.ts';
import { backToServer, openServers } from './model.open.ts';
import { joinWords, splitWords } from './shell.words.ts';
import type { Focus, Form, Model, Step } from './state.ts';
import { clamp, only, say, withForm } from './steps.ts';

export const isChoice = (focus: Focus): focus is 'transport' | 'auth' => focus === 'transport' || focus === 'auth';

const placesOf = ({ draft, of }: Form): readonly Focus[] => [...fieldsOf(draft, of !== null), 'save'];

const focusOn = (form: Form, focus: Focus): Form => ({
  ...form,
  focus,
  field: fieldOf(focus === 'save' || isChoice(focus) ? '' : textIn(form.draft, focus)),
});

/** What happens to a field that is left: a whole command line in the command is taken apart. */
function left(form: Form): Form {
  const touched = new Set([...form.touched, form.focus]);
  const { draft, focus } = form;
  if (focus === 'command' && draft.args === '' && /\s/.test(draft.command.trim())) {
    const pasted = readPasted(draft.command);
    if (pasted?.ok) return { ...filled(form, draft.command), touched, focus };
    const read = splitWords(draft.command);
    const [program = '', ...args] = read.ok ? read.words : [];
    if (program !== '') return { ...form, touched, draft: { ...draft, command: program, args: joinWords(args) } };
  }
  return { ...form, touched };
}

function moved(form: Form, by: 1 | -1): Form {
  const gone = left(form);
  const places = placesOf(gone);
  const at = places.indexOf(form.focus);
  const next = places[clamp(at + by, 0, places.length - 1)] ?? 'save';
  return focusOn(gone, next);
}

function chosen({ draft, ...form }: Form, by: 1 | -1): Form {
  if (form.focus === 'transport')
    return { ...form, draft: { ...draft, transport: draft.transport === 'stdio' ? 'http' : 'stdio' } };
  const auth = auths[(auths.indexOf(draft.auth) + by + auths.length) % auths.length] ?? 'none';
  return { ...form, draft: { ...draft, auth, secret: '' } };
}

const typed = (form: Form, field: Form['field']): Form => {
  if (form.focus === 'save' || isChoice(form.focus)) return form;
  return { ...form, field, note: null, draft: withValue(form.draft, form.focus, field.value) };
};

/** The form with what was pasted in its fields; `note` says what was found. */
function filled(form: Form, text: string): Form {
  const pasted = readPasted(text);
  if (pasted === null) return form;
  if (!pasted.ok) return { ...form, note: { text: pasted.message, tone: 'bad' } };
  const { name, entry, others } = pasted;
  const own = form.draft.name !== '' ? form.draft.name : name === null ? '' : suggestName(name);
  const draft: Draft = { ...draftOf(own, entry), rest: { ...form.draft.rest, ...draftOf(own, entry).rest } };
  const many = others > 0 ? ` It holds ${others} more; paste it again for those.` : '';
  const next: Form = { ...form, draft, note: { text: `Filled in from what you pasted.${many}`, tone: 'good' } };
  const wrong = firstFault(draft, form.of !== null);
  return focusOn(next, wrong?.field ?? 'save');
}

/** A pasted text: a snippet or a command line fills the form, any other text goes where the cursor is. */
export function formPaste(model: Model, form: Form, text: string): Step {
  if (form.phase.at !== 'form') return only(model);
  const trimmed = text.trim();
  const wholeEntry = /^[{"]|^```/.test(trimmed) || /\bmcp\s+add|--add-mcp|^\W*watchkeeper\s+add/.test(trimmed);
  const open = form.focus === 'name' || form.focus === 'command' || form.focus === 'save' || isChoice(form.focus);
  const next = filled(form, text);
  if ((wholeEntry || open) && next !== form) return only(withForm(model, () => next));
  if (isChoice(form.focus) || form.focus === 'save')
    return only(
      withForm(model, () => ({
        ...form,
        note: { text: 'This is neither JSON nor a command line that could be read.', tone: 'warn' },
      })),
    );
  return only(withForm(model, (one) => typed(one, insert(one.field, trimmed))));
}

const isBlank = ({ draft }: Form): boolean =>
  [draft.name, draft.command, draft.args, draft.url, draft.secret, ...draft.env, ...draft.headers].every(
    (text) => text === '',
  );

/** Away from the form, to where it was opened from. */
export const leaveForm = (model: Model, { of }: Form): Step =>
  of === null ? only(openServers(model)) : backToServer(model, of, 'config');

export function formKey(model: Model, form: Form, key: Key): Step {
  switch (form.phase.at) {
    case 'saving':
      return only(model);
    case 'testing':
      // The daemon ends its attempt by itself; its answer is not waited for.
      return 'name' in key && key.name === 'escape' ? only(withForm(model, editing)) : only(model);
    case 'tested':
      return testedKey(model, form, form.phase.scroll, key);
    case 'form':
      return editKey(model, form, key);
  }
}

const editing = (form: Form): Form => ({ ...form, phase: { at: 'form' } });

function editKey(model: Model, form: Form, key: Key): Step {
  const change = (next: Form): Step => only(withForm(model, () => next));
  if ('name' in key) {
    switch (key.name) {
      case 'escape':
        return form.of === null && isBlank(form)
          ? leaveForm(model, form)
          : only({ ...model, asking: { about: 'leave-form' } });
      case 'up':
      case 'back-tab':
        return change(moved(form, -1));
      case 'down':
      case 'tab':
        return change(moved(form, 1));
      case 'enter':
        if (form.focus === 'save') return submit(model, form);
        return change(moved(form, 1));
    }
  }
  if ('ctrl' in key && key.ctrl === 's') return submit(model, form);
  if ('ctrl' in key && key.ctrl === 'o') return change({ ...form, showSecret: !form.showSecret });
  if (isChoice(form.focus)) {
    const forward = ('name' in key && key.name === 'right') || ('text' in key && key.text === ' ');
    if (forward) return change(chosen(form, 1));
    return 'name' in key && key.name === 'left' ? change(chosen(form, -1)) : only(model);
  }
  const field = edit(form.field, key);
  return field === null ? only(model) : change(typed(form, field));
}

/** Tests what is typed; when something is wrong with it, goes there instead. A login is tested by logging in. */
function submit(model: Model, given: Form): Step {
  const before = left(given);
  const draft = tidy(before.draft);
  const form: Form = { ...before, draft, touched: new Set(placesOf({ ...before, draft })), note: null };
  const wrong = firstFault(draft, form.of !== null);
  if (wrong !== null) {
    const note = { text: `${labelOf(wrong.field)}: ${wrong.message}.`, tone: 'bad' as const };
    return only(withForm(model, () => ({ ...focusOn(form, wrong.field), note })));
  }
  if (draft.transport === 'http' && draft.auth === 'oauth')
    return save(
      withForm(model, () => form),
      form,
    );
  const attempt = model.attempts + 1;
  const testing: Form = { ...form, phase: { at: 'testing', since: model.now, attempt } };
  return [
    { ...withForm(model, () => testing), attempts: attempt },
    [{ do: 'act', act: { kind: 'test', attempt, of: form.of, entry: entryOf(draft) } }],
  ];
}

/** Saves what is typed, whether it was tested or not. */
export function save(model: Model, form: Form): Step {
  const { draft } = form;
  return [
    withForm(model, () => ({ ...form, phase: { at: 'saving' } })),
    [{ do: 'act', act: { kind: 'save', name: draft.name, entry: entryOf(draft) } }],
  ];
}

function testedKey(model: Model, form: Form, scroll: number, key: Key): Step {
  if ('name' in key) {
    if (key.name === 'enter' || key.name === 'escape') return only(withForm(model, editing));
    const by = key.name === 'up' ? -1 : key.name === 'down' ? 1 : 0;
    if (by !== 0 && form.phase.at === 'tested') {
      const { phase } = form;
      return only(withForm(model, (one) => ({ ...one, phase: { ...phase, scroll: clamp(scroll + by, 0, 500) } })));
    }
  }
  if ('text' in key && key.text === 's') return save(model, form);
  return only(model);
}

/** What became of a test: what works is saved at once. */
export function tested(model: Model, attempt: number, result: import('../api/client.ts').TestResult): Step {
  const { screen } = model;
  if (screen.at !== 'add' || screen.form.phase.at !== 'testing' || screen.form.phase.attempt !== attempt)
    return only(model);
  if (result.ok) return save(say(model, 'It works. Saving …', 'good'), screen.form);
  return only(withForm(model, (form) => ({ ...form, phase: { at: 'tested', result, scroll: 0 } })));
}

/** How a field is called on the screen. */
export function labelOf(field: FieldId): string {
  if (field.startsWith('env.')) return 'Environment';
  if (field.startsWith('headers.')) return 'Header';
  const labels: Readonly<Record<string, string>> = {
    name: 'Name',
    transport: 'Transport',
    command: 'Command',
    args: 'Arguments',
    cwd: 'Folder',
    url: 'URL',
    auth: 'Authentication',
    secret: 'Secret',
    keyHeader: 'Key header',
  };
  return labels[field] ?? field;
}
