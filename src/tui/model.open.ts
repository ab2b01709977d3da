/** Going from screen to screen. Pure. */
import { blankDraft, draftOf, type Entry } from './entry.draft.ts';
import { fieldOf } from './field.ts';
import type { ClientForm, Form, Load, Model, Opened, Step, Tab } from './state.ts';
import { only, say, show, then, wantAll } from './steps.ts';

/** Facts of a server that are loaded at first, and how many more each time. */
export const factsAtOnce = 200;

export const blankOpened = (name: string, tab: Tab = 'tools'): Opened => ({
  name,
  tab,
  tools: { list: null, entries: null, suspended: [], ticked: null, cursor: 0, filter: '' },
  timeline: { events: null, whole: false, cursor: null },
  moment: null,
  why: null,
  stderr: null,
  scroll: 0,
});

/** What a tab shows, to be loaded when it is opened and when something changed. */
export function loadsOf({ name, tab, moment, timeline }: Opened): readonly Load[] {
  const at = moment?.position ?? null;
  switch (tab) {
    case 'tools':
      return [
        { do: 'load', what: 'tools', name, at },
        { do: 'load', what: 'grants', name },
      ];
    case 'timeline':
      return timeline.events === null ? [{ do: 'load', what: 'timeline', name, count: factsAtOnce }] : [];
    case 'stderr':
      return [
        { do: 'load', what: 'stderr', name },
        { do: 'load', what: 'why', name, at },
      ];
    case 'why':
      return [{ do: 'load', what: 'why', name, at }];
    case 'config':
    case 'login':
      return [{ do: 'load', what: 'config' }];
  }
}

/** The list, with nothing else on top. */
export const openServers = (model: Model): Model => show(model, { at: 'servers' });

/** Whether people log in to a server. */
export const hasLogin = ({ config }: Pick<Model, 'config'>, name: string): boolean =>
  `${config?.servers[name]?.auth ?? ''}`.trim().toLowerCase() === 'oauth';

export function openServer(model: Model, name: string, tab: Tab = 'tools'): Step {
  const opened = blankOpened(name, tab);
  const next = show({ ...model, list: { ...model.list, selected: name } }, { at: 'server', opened });
  return wantAll(next, loadsOf(opened));
}

const blankForm: Form = {
  draft: blankDraft,
  of: null,
  focus: 'name',
  field: fieldOf(),
  touched: new Set(),
  phase: { at: 'form' },
  note: null,
  showSecret: false,
};

export const openAdd = (model: Model): Model => show(model, { at: 'add', form: blankForm });

/** The entry of a server, to be changed; values that are hidden stay as they are unless they are typed anew. */
export function openEdit(model: Model, name: string): Step {
  const entry: Entry | undefined = model.config?.servers[name];
  if (entry === undefined) return only(say(model, `The entry of ${name} is not known yet.`, 'warn'));
  const draft = draftOf(name, entry);
  const focus = draft.transport === 'stdio' ? 'command' : 'url';
  const form: Form = { ...blankForm, draft, of: name, focus, field: fieldOf(draft[focus]) };
  return only(show(model, { at: 'add', form }));
}

export function openClient(model: Model, name: string): Model {
  const form: ClientForm = {
    name,
    id: '',
    secret: '',
    redirect: model.around.callback,
    focus: 'id',
    field: fieldOf(),
    note: null,
    busy: false,
  };
  return show(model, { at: 'client', form });
}

/** Begins a login; the daemon is asked for the address. */
export function openLogin(model: Model, name: string): Step {
  const login = { name, url: null, browser: null, field: fieldOf(), note: null, ended: null };
  return [show(model, { at: 'login', login }), [{ do: 'login', name }]];
}

/** Back from what belongs to a server to the server itself; the list when it is not there any more. */
export function backToServer(model: Model, name: string, tab: Tab = 'tools'): Step {
  if (model.status !== null && !model.status.some((server) => server.name === name)) return only(openServers(model));
  return openServer(model, name, tab);
}

/** Shows another moment of a server, or the present again. */
export function travel(model: Model, moment: { readonly position: number; readonly at: string } | null): Step {
  const { screen } = model;
  if (screen.at !== 'server') return only(model);
  const { opened } = screen;
  const next: Opened = {
    ...opened,
    moment,
    tools: { ...opened.tools, ticked: null },
    timeline: { ...opened.timeline, cursor: moment?.position ?? null },
  };
  const moved = show(model, { ...screen, opened: next });
  const loads = opened.tab === 'timeline' ? [] : loadsOf(next);
  return moment === null
    ? wantAll(moved, loadsOf(next))
    : then(wantAll(moved, [{ do: 'load', what: 'then', name: opened.name, at: moment.position }]), (model2) =>
        wantAll(model2, loads),
      );
}
