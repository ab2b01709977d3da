/**
 * The terminal view as a function: what it knows and a message give what it knows next and what is to be done. It reads no
 * clock and asks nobody; `at` (ms since the epoch) comes with the message. Pure.
 */

import { insert } from './field.ts';
import type { Input, Key } from './keys.ts';
import { done, failed } from './model.done.ts';
import { heard, loadAll, loaded, notLoaded } from './model.facts.ts';
import { formKey, formPaste, leaveForm } from './model.form.ts';
import { heldKey, heldPaste, noneHeld, showHeld, shownCall, stillTyping } from './model.held.ts';
import { begin, beginLine, lineKey, takesLine } from './model.line.ts';
import { browserOpened, clientKey, clientPaste, loginFrame, loginKey, loginPaste } from './model.login.ts';
import { openServers } from './model.open.ts';
import { serverKey } from './model.server.ts';
import { serversKey } from './model.servers.ts';
import type { Load, Message, Model, Question, Size, Step, Surroundings } from './state.ts';
import { only, say, then, wantAll } from './steps.ts';

export interface Beginning {
  readonly size: Size;
  readonly at: number;
  readonly around: Surroundings;
  readonly bell: boolean;
  /** What stood after the command: nothing, `add`, or the name of a server. */
  readonly words: readonly string[];
}

/** How the view begins: it knows nothing yet and asks for everything. `start` is carried out when the servers are known. */
export function initial({ size, at, around, bell }: Omit<Beginning, 'words'>): Step {
  return loadAll({
    size,
    now: at,
    around,
    daemon: { up: true, since: at, starting: false },
    status: null,
    config: null,
    stretches: {},
    pending: {},
    list: { selected: null, filter: '', sort: 'name' },
    screen: { at: 'servers' },
    held: noneHeld,
    asking: null,
    typing: null,
    help: false,
    notice: null,
    bell,
    attempts: 0,
  });
}

/** Opens what the words name, once it is known which servers there are. */
export const start = begin;

export function update(before: Model, message: Message, at: number): Step {
  const model: Model = { ...before, now: Math.max(before.now, at) };
  switch (message.is) {
    case 'input':
      return input(model, message.input);
    case 'resize':
      return only({ ...model, size: message.size });
    case 'tick':
      return tick(model);
    case 'event':
      return heard(model, message.event);
    case 'lost':
      if (!model.daemon.up) return only(model);
      return only({ ...model, pending: {}, daemon: { up: false, since: model.now, starting: false } });
    case 'back': {
      const daemon = { up: true, since: model.now, starting: false };
      return loadAll(say({ ...model, pending: {}, daemon }, 'The daemon is back.', 'good'));
    }
    case 'loaded':
      return loaded(model, message);
    case 'not-loaded':
      return notLoaded(model, message);
    case 'done':
      return done(model, message);
    case 'failed':
      return failed(model, message);
    case 'login':
      return loginFrame(model, message);
    case 'opened':
      return only(browserOpened(model, message.ok));
  }
}

/** Time goes by: notices end, and what has no facts of its own is looked at again. */
function tick(model: Model): Step {
  const notice = model.notice !== null && model.notice.until <= model.now ? null : model.notice;
  const { screen } = model;
  const live = screen.at === 'server' && screen.opened.tab === 'stderr' && screen.opened.moment === null;
  const loads: readonly Load[] = live ? [{ do: 'load', what: 'stderr', name: screen.opened.name }] : [];
  return wantAll({ ...model, notice }, loads);
}

function input(model: Model, given: Input): Step {
  if ('paste' in given) return pasted(model, given.paste);
  if ('ctrl' in given && given.ctrl === 'c') return [model, [{ do: 'quit' }]];
  const call = shownCall(model.held);
  const decision = call === null ? null : heldKey(model, call, given);
  if (decision !== null) return decision;
  return then(key(model, given), stillTyping);
}

function pasted(model: Model, text: string): Step {
  const inReason = heldPaste(model, text);
  if (inReason !== null) return inReason;
  if (model.asking !== null || model.help) return only(model);
  if (model.typing !== null) return only({ ...model, typing: insert(model.typing, text.trim()) });
  const { screen } = model;
  switch (screen.at) {
    case 'add':
      return formPaste(model, screen.form, text);
    case 'client':
      return clientPaste(model, screen.form, text);
    case 'login':
      return loginPaste(model, text);
    default:
      return only(say(model, 'To add a server from what you copied, press a first, then paste.'));
  }
}

function key(model: Model, given: Key): Step {
  if (model.asking !== null) return answered(model, model.asking, given);
  if (model.help) return only({ ...model, help: false });
  if (model.typing !== null) return lineKey(model, model.typing, given);
  if (takesLine(model) && 'text' in given) {
    const anywhere = everywhere(model, given.text);
    if (anywhere !== null) return anywhere;
  }
  const { screen } = model;
  switch (screen.at) {
    case 'servers':
      return serversKey(model, given);
    case 'server':
      return serverKey(model, screen.opened, given);
    case 'add':
      return formKey(model, screen.form, given);
    case 'client':
      return clientKey(model, screen.form, given);
    case 'login':
      return loginKey(model, screen.login, given);
  }
}

/** Keys that mean the same on every screen where nothing is typed. */
function everywhere(model: Model, text: string): Step | null {
  switch (text) {
    case '?':
      return only({ ...model, help: true });
    case '/':
      return only(beginLine(model));
    case 'h':
      return showHeld(model);
    case 'B':
      return only(say({ ...model, bell: !model.bell }, model.bell ? 'The bell is off.' : 'The bell is on.'));
    case 'U':
      if (model.daemon.up || model.daemon.starting) return only(model);
      return [
        { ...model, daemon: { ...model.daemon, starting: true } },
        [{ do: 'act', act: { kind: 'start-daemon' } }],
      ];
    default:
      return null;
  }
}

/** Only `y` means yes. */
function answered(asked: Model, question: Question, given: Key): Step {
  const model: Model = { ...asked, asking: null };
  if (!('text' in given && /^y$/i.test(given.text))) return only(model);
  switch (question.about) {
    case 'remove':
      return [
        say(model, `Removing ${question.name} …`, 'busy'),
        [{ do: 'act', act: { kind: 'remove', name: question.name } }],
      ];
    case 'logout':
      return [say(model, 'Logging out …', 'busy'), [{ do: 'act', act: { kind: 'logout', name: question.name } }]];
    case 'leave-form':
      return model.screen.at === 'add' ? leaveForm(model, model.screen.form) : only(openServers(model));
  }
}
