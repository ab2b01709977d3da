/** Keys of the form of a server. Pure. */
import { edit, fieldOf, insert } from './field.ts';
import {
  auths,
  blankForm,
  entryOf,
  type Form,
  faultOf,
  firstFault,
  formOf,
  isField,
  type Row,
  rowsOf,
  transports,
} from './form.ts';
import type { Input } from './keys.ts';
import { type AddScreen, type Model, type Question, type Step, say, step } from './model.ts';
import { readPaste } from './paste.ts';

const withForm = (model: Model, form: Form): Model => ({ ...model, add: { form, trial: null } });

const takenNames = ({ entries }: Model): readonly string[] => Object.keys(entries);

function go(model: Model, form: Form, by: number): Step {
  const rows = rowsOf(form);
  const at = Math.max(0, rows.indexOf(form.focus));
  const focus = rows[Math.min(rows.length - 1, Math.max(0, at + by))] ?? form.focus;
  return step(withForm(model, { ...form, focus, seen: [...new Set([...form.seen, form.focus])] }));
}

const turned = <Choice>(choices: readonly Choice[], now: Choice, by: number): Choice =>
  choices[(choices.indexOf(now) + by + choices.length) % choices.length] ?? now;

function choose(model: Model, form: Form, by: number): Step {
  if (form.focus === 'transport')
    return step(withForm(model, { ...form, transport: turned(transports, form.transport, by) }));
  return step(withForm(model, { ...form, auth: turned(auths, form.auth, by) }));
}

/** Tries the entry; what is wrong with the form is said instead, with the row to mend. */
function attempt(model: Model, form: Form): Step {
  const fault = firstFault(form, takenNames(model));
  if (fault !== null) {
    const next = withForm(model, { ...form, focus: fault, seen: rowsOf(form) });
    return step(say(next, `Something is not right yet: ${faultOf(form, fault, takenNames(model))}.`, 'bad'));
  }
  const entry = entryOf(form);
  const { name, replaces } = targetOf(form);
  // A login comes after saving, and nothing is stored for a hidden value of a new server: saving says so.
  if (form.auth === 'oauth' || (!replaces && holdsHidden(entry))) {
    return step({ ...model, add: { form, trial: null } }, { do: 'save', name, entry, replaces });
  }
  return step({ ...model, add: { form, trial: 'trying' } }, { do: 'try', name, entry, replaces });
}

const holdsHidden = (entry: unknown): boolean => JSON.stringify(entry).includes('***');

const targetOf = (form: Form): { name: string; replaces: boolean } => ({
  name: form.editing ?? form.fields.name.value.trim(),
  replaces: form.editing !== null,
});

/** Saves what was tried, whatever came of it. */
const save = (model: Model, form: Form): Step => step(model, { do: 'save', ...targetOf(form), entry: entryOf(form) });

const discarding: Question = {
  text: 'Leave without saving?',
  about: 'What is typed here is lost.',
  yes: [],
  discards: true,
};

/** Whether something was typed or chosen that is not saved. */
function isTouched({ entries }: Model, form: Form): boolean {
  const { editing } = form;
  const begun = editing === null ? blankForm() : formOf(editing, entries[editing] ?? {}, editing);
  const textsOf = ({ transport, auth, fields }: Form): string =>
    JSON.stringify([transport, auth, ...Object.values(fields).map(({ value }) => value)]);
  return textsOf(form) !== textsOf(begun);
}

/** The step after a key or a paste. */
export function addKey(model: Model, screen: AddScreen, input: Input): Step {
  const { form, trial } = screen;
  if ('name' in input && input.name === 'escape') {
    if (trial !== null) return step({ ...model, add: { form, trial: null } });
    return isTouched(model, form) ? step({ ...model, question: discarding }) : step({ ...model, add: null });
  }
  if (trial === 'trying') return step(model);
  if (trial !== null && !trial.ok) return failedKey(model, form, input);
  if ('paste' in input) return paste(model, form, input.paste);
  if ('ctrl' in input && input.ctrl === 's') return attempt(model, form);
  if ('name' in input) {
    switch (input.name) {
      case 'up':
      case 'back-tab':
        return go(model, form, -1);
      case 'down':
      case 'tab':
        return go(model, form, 1);
      case 'enter':
        return form.focus === 'save' ? attempt(model, form) : go(model, form, 1);
    }
  }
  if (!isField(form.focus)) {
    if ('name' in input && (input.name === 'left' || input.name === 'right')) {
      return form.focus === 'save' ? step(model) : choose(model, form, input.name === 'left' ? -1 : 1);
    }
    return 'text' in input && input.text === ' ' && form.focus !== 'save' ? choose(model, form, 1) : step(model);
  }
  return type(model, form, form.focus, input);
}

function type(
  model: Model,
  form: Form,
  row: Row & keyof Form['fields'],
  input: Exclude<Input, { paste: string }>,
): Step {
  const field = edit(form.fields[row], input);
  return field === null ? step(model) : step(withForm(model, { ...form, fields: { ...form.fields, [row]: field } }));
}

function failedKey(model: Model, form: Form, input: Input): Step {
  if ('text' in input && input.text === 's') return save(model, form);
  if ('text' in input && input.text === 't') return attempt(model, form);
  return 'text' in input || ('name' in input && input.name === 'enter')
    ? step({ ...model, add: { form, trial: null } })
    : step(model);
}

/** A whole entry fills the form; anything else goes where the cursor is. */
function paste(model: Model, form: Form, text: string): Step {
  const read = readPaste(text, form);
  if (read !== null) return step(say(withForm(model, read.form), read.said, 'quiet'));
  if (!isField(form.focus)) return step(model);
  const field = insert(form.fields[form.focus] ?? fieldOf(), text.trim());
  return step(withForm(model, { ...form, fields: { ...form.fields, [form.focus]: field } }));
}
