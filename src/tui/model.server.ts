/** Keys on one server: its tabs, its grants, its past. Pure. */
import type { Key } from './keys.ts';
import { factsAtOnce, hasLogin, loadsOf, openClient, openLogin, openServers, travel } from './model.open.ts';
import { serverAct } from './model.servers.ts';
import { furthest } from './server.lines.ts';
import { type Event, type Model, type Opened, type Step, type Tab, tabs } from './state.ts';
import { clamp, only, say, then, wantAll, withOpened } from './steps.ts';
import { entriesToSave, isChanged, tickedOf, toggled, toolRows, wholeOf } from './tool.rows.ts';

/** The tabs a server has: only those that log in have the last one. */
export const tabsOf = (model: Model, name: string): readonly Tab[] =>
  tabs.filter((tab) => tab !== 'login' || hasLogin(model, name));

/** Rows a page holds, on any tab. */
const pageOf = (model: Model): number => Math.max(1, model.size.rows - 10);

const step: Readonly<Record<string, number>> = { up: -1, down: 1, k: -1, j: 1 };

/** How far a key moves; null when it does not. */
function moveOf(model: Model, key: Key): number | null {
  const name = 'name' in key ? key.name : 'text' in key ? key.text : '';
  if (name === 'page-up') return -pageOf(model);
  if (name === 'page-down') return pageOf(model);
  if (name === 'home') return Number.NEGATIVE_INFINITY;
  if (name === 'end') return Number.POSITIVE_INFINITY;
  return step[name] ?? null;
}

export function serverKey(model: Model, opened: Opened, key: Key): Step {
  const shown = tabsOf(model, opened.name);
  if ('name' in key) {
    if (key.name === 'tab' || key.name === 'back-tab') {
      const by = key.name === 'tab' ? 1 : shown.length - 1;
      return openTab(model, opened, shown[(shown.indexOf(opened.tab) + by) % shown.length] ?? 'tools');
    }
    if (key.name === 'escape') return leave(model, opened);
  }
  if ('text' in key) {
    const byNumber = /^[1-9]$/.test(key.text) ? shown[Number(key.text) - 1] : undefined;
    if (byNumber) return openTab(model, opened, byNumber);
    if (key.text === 'q') return leave(model, opened);
  }
  const own = tabKey(model, opened, key);
  if (own) return own;
  if (opened.moment !== null && 'text' in key && /^[rxde]$/.test(key.text))
    return only(say(model, 'This is the past; Esc returns to the present.', 'warn'));
  return serverAct(model, opened.name, key) ?? only(model);
}

function openTab(model: Model, opened: Opened, tab: Tab): Step {
  if (tab === opened.tab) return only(model);
  const next: Opened = { ...opened, tab, scroll: 0 };
  return wantAll(
    withOpened(model, () => next),
    loadsOf(next),
  );
}

/** One thing at a time: changed ticks, another moment, a filter, and then the server itself. */
function leave(model: Model, opened: Opened): Step {
  if (isChanged(opened)) {
    const kept = withOpened(model, (one) => ({ ...one, tools: { ...one.tools, ticked: null } }));
    return only(say(kept, 'The grants stay as they were.'));
  }
  if (opened.moment !== null) return travel(model, null);
  if (opened.tools.filter !== '')
    return only(withOpened(model, (one) => ({ ...one, tools: { ...one.tools, filter: '' } })));
  return only(openServers(model));
}

function tabKey(model: Model, opened: Opened, key: Key): Step | null {
  switch (opened.tab) {
    case 'tools':
      return toolsKey(model, opened, key);
    case 'timeline':
      return timelineKey(model, opened, key);
    case 'login':
      return loginKey(model, opened, key) ?? scrollKey(model, opened, key);
    default:
      return scrollKey(model, opened, key);
  }
}

/** The text of a tab moves. What a process writes is read from its end. */
function scrollKey(model: Model, opened: Opened, key: Key): Step | null {
  const move = moveOf(model, key);
  if (move === null) return null;
  const by = opened.tab === 'stderr' ? -move : move;
  const scroll = clamp(opened.scroll + by, 0, furthest(model, opened));
  return only(withOpened(model, (one) => ({ ...one, scroll })));
}

function toolsKey(model: Model, opened: Opened, key: Key): Step | null {
  const rows = toolRows(opened);
  const by = moveOf(model, key);
  if (by !== null) {
    const cursor = clamp(opened.tools.cursor + by, 0, Math.max(0, rows.length - 1));
    return only(withOpened(model, (one) => ({ ...one, tools: { ...one.tools, cursor } })));
  }
  const saves = 'name' in key && key.name === 'enter';
  const ticks = 'text' in key && key.text === ' ';
  if (!saves && !ticks) return null;
  if (opened.moment !== null) return only(say(model, 'This is the past; Esc returns to the present.', 'warn'));
  if (ticks) return tick(model, opened);
  if (!isChanged(opened)) return only(say(model, 'Nothing is changed. Space ticks a row.'));
  const { name } = opened;
  return [
    say(model, 'Saving …', 'busy'),
    [{ do: 'act', act: { kind: 'grant', name, entries: entriesToSave(opened) } }],
  ];
}

function tick(model: Model, opened: Opened): Step {
  const row = toolRows(opened)[opened.tools.cursor];
  if (!row || opened.tools.entries === null) return only(model);
  if (row.is !== 'whole' && tickedOf(opened).has(wholeOf(opened.name)))
    return only(
      say(model, 'The whole server is ticked, and this with it: untick the first row for single tools.', 'warn'),
    );
  return only(withOpened(model, (one) => ({ ...one, tools: { ...one.tools, ticked: toggled(one, row) } })));
}

/** Where the mark is: the newest fact unless it was moved. */
export function markedFact({ timeline }: Pick<Opened, 'timeline'>): number {
  const events = timeline.events ?? [];
  if (timeline.cursor === null) return events.length - 1;
  const at = events.findLastIndex(({ position }) => position <= (timeline.cursor ?? 0));
  return Math.max(0, at);
}

function timelineKey(model: Model, opened: Opened, key: Key): Step | null {
  const events = opened.timeline.events ?? [];
  const name = 'name' in key ? key.name : '';
  if (name === 'left' || name === 'right') {
    // The first step back shows the marked fact itself.
    const begins = opened.moment === null && name === 'left' && opened.timeline.cursor !== null;
    return goTo(model, events, markedFact(opened) + (begins ? 0 : name === 'left' ? -1 : 1), true);
  }
  if (name === 'end') return travel(model, null);
  const by = moveOf(model, key);
  if (by === null) return null;
  return goTo(model, events, markedFact(opened) + by, opened.moment !== null);
}

/** Marks a fact; `travels`: all of the screen shows the moment after it. Beyond the newest is the present. */
function goTo(model: Model, events: readonly Event[], wanted: number, travels: boolean): Step {
  if (events.length === 0) return only(model);
  if (wanted >= events.length) return travel(model, null);
  const event = events[clamp(wanted, 0, events.length - 1)];
  if (!event) return only(model);
  const newest = event === events.at(-1);
  const moved: Step = travels
    ? travel(model, { position: event.position, at: event.at })
    : only(
        withOpened(model, (one) => ({
          ...one,
          timeline: { ...one.timeline, cursor: newest ? null : event.position },
        })),
      );
  return then(moved, (next) => (wanted <= 0 ? older(next) : only(next)));
}

/** More of the past, when there is more. */
function older(model: Model): Step {
  const { screen } = model;
  if (screen.at !== 'server' || screen.opened.timeline.whole) return only(model);
  const { name, timeline } = screen.opened;
  const count = (timeline.events?.length ?? 0) + factsAtOnce;
  return wantAll(model, [{ do: 'load', what: 'timeline', name, count }]);
}

function loginKey(model: Model, opened: Opened, key: Key): Step | null {
  const { name } = opened;
  if (opened.moment !== null) return null;
  if ('name' in key && key.name === 'enter') return openLogin(model, name);
  if (!('text' in key)) return null;
  if (key.text === 'o') return only({ ...model, asking: { about: 'logout', name } });
  if (key.text === 'c') return only(openClient(model, name));
  return null;
}
