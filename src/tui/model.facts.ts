/** Facts of the feed and answers of the daemon, taken into what is known. Pure. */

import { oneLine } from '../cli/paint.ts';
import { byCodeUnit } from '../config/names.ts';
import { inPlainWords } from '../replay/fact.words.ts';
import { heldLoaded } from './model.held.ts';
import { factsAtOnce, loadsOf, openServers } from './model.open.ts';
import type { Stretch } from './spark.ts';
import type { Event, Load, Loaded, Message, Model, Opened, Step } from './state.ts';
import { keyOf, only, say, then, want, wantAll, withOpened } from './steps.ts';

const hourMs = 3_600_000;
const server = 'server-';

const status: Load = { do: 'load', what: 'status' };
const config: Load = { do: 'load', what: 'config' };
const held: Load = { do: 'load', what: 'held' };

/** Everything that is shown, anew: at the beginning, and when the daemon is back. */
export function loadAll(model: Model): Step {
  const from = new Date(model.now - hourMs).toISOString();
  const { screen } = model;
  const ofScreen = screen.at === 'server' ? loadsOf(screen.opened) : [];
  const timeline: readonly Load[] =
    screen.at === 'server' && screen.opened.timeline.events !== null
      ? [
          {
            do: 'load',
            what: 'timeline',
            name: screen.opened.name,
            count: screen.opened.timeline.events.length + factsAtOnce,
          },
        ]
      : [];
  return wantAll(model, [status, config, held, { do: 'load', what: 'history', from }, ...ofScreen, ...timeline]);
}

// Facts

/** A fact, as it comes. What it leads to is known from itself; the rest is asked for. */
export function heard(model: Model, event: Event): Step {
  if (event.stream.startsWith(server)) return heardOfServer(model, event, event.stream.slice(server.length));
  if (event.stream === 'allowlist') return wantOpened(model, ['tools']);
  if (event.stream === 'config') return heardOfConfig(model, event);
  if (event.stream === 'logins') return wantAll(model, [config, status]);
  if (event.stream.startsWith('call-')) {
    const id = event.stream.slice('call-'.length);
    const concerns = event.type === 'CallHeld' || model.held.calls.some((call) => call.id === id);
    return concerns ? want(model, held) : only(model);
  }
  return only(model);
}

function heardOfConfig(model: Model, event: Event): Step {
  const told = event.type === 'ConfigRejected' ? say(model, oneLine(inPlainWords(event)), 'bad') : model;
  return wantAll(told, [config, status]);
}

function heardOfServer(model: Model, event: Event, name: string): Step {
  const { to } = event.data;
  const moved = typeof to === 'string' ? moveTo(model, name, to, event.at) : model;
  const { screen } = moved;
  if (screen.at !== 'server' || screen.opened.name !== name) return want(moved, status);
  const added = withOpened(moved, (opened) => ({ ...opened, timeline: withFact(opened.timeline, event) }));
  const loads: readonly Load['what'][] = event.type === 'ToolsListed' ? ['tools', 'why', 'stderr'] : ['why', 'stderr'];
  return then(want(added, status), (next) => wantOpened(next, loads));
}

/** The state a fact leads to is in the fact: the row need not wait for the answer with the rest. */
function moveTo(model: Model, name: string, state: string, at: string): Model {
  const rows = model.status?.map((row) =>
    row.name === name && row.state !== state
      ? { ...row, state: state as typeof row.state, connected: state === 'ready', since: at }
      : row,
  );
  const time = Date.parse(at);
  const before = model.stretches[name] ?? [];
  const last = before.at(-1);
  if (last?.state === state && last.to === null) return { ...model, status: rows ?? null };
  const closed = before.map((one) => (one.to === null ? { ...one, to: time } : one));
  const recent = closed.filter((one) => (one.to ?? time) > model.now - hourMs);
  const stretches = { ...model.stretches, [name]: [...recent, { state, from: time, to: null }] };
  return { ...model, status: rows ?? null, stretches };
}

function withFact(timeline: Opened['timeline'], event: Event): Opened['timeline'] {
  const { events } = timeline;
  if (events === null || (events.at(-1)?.position ?? 0) >= event.position) return timeline;
  return { ...timeline, events: [...events, event] };
}

/** Loads parts of the present of the server that is looked at, where the present is what is shown. */
function wantOpened(model: Model, parts: readonly Load['what'][]): Step {
  const { screen } = model;
  if (screen.at !== 'server' || screen.opened.moment !== null) return only(model);
  const wanted = loadsOf(screen.opened).filter(
    ({ what }) => parts.includes(what) || (what === 'grants' && parts.includes('tools')),
  );
  return wantAll(model, wanted);
}

// Answers

/** Takes an answer in, and asks once more where something happened meanwhile. */
export function loaded(model: Model, { asked, found }: Extract<Message, { is: 'loaded' }>): Step {
  return then(settled(model, asked), (next) => take(next, asked, found));
}

export function notLoaded(model: Model, { asked, text }: Extract<Message, { is: 'not-loaded' }>): Step {
  const [next, commands] = settled(model, asked);
  // A server that is looked at may have been removed by somebody else.
  return [say(next, text, 'bad'), commands];
}

function settled(model: Model, asked: Load): Step {
  const key = keyOf(asked);
  const { [key]: pending, ...others } = model.pending;
  const next: Model = { ...model, pending: others };
  return pending === 'again' ? want(next, asked) : only(next);
}

function take(model: Model, asked: Load, found: Loaded): Step {
  const about = (change: (opened: Opened) => Opened): Step => {
    const { screen } = model;
    const same = screen.at === 'server' && 'name' in asked && screen.opened.name === asked.name;
    // An answer about a moment that is no longer looked at is late.
    const moment = same && 'at' in asked ? (screen.opened.moment?.position ?? null) === asked.at : same;
    return only(moment ? withOpened(model, change) : model);
  };
  switch (found.what) {
    case 'status':
      return only(withStatus(model, found.data.servers));
    case 'config':
      return only({ ...model, config: found.data });
    case 'held':
      return heldLoaded(model, found.data.calls);
    case 'history':
      return only({ ...model, stretches: stretchesOf(found.data.intervals) });
    case 'tools':
      return about((opened) => ({ ...opened, tools: { ...opened.tools, list: found.data.tools } }));
    case 'grants': {
      const { entries, suspended } = found.data.tool;
      return about((opened) => ({ ...opened, tools: { ...opened.tools, entries, suspended } }));
    }
    case 'why':
      return about((opened) => ({ ...opened, why: found.data }));
    case 'stderr':
      return about((opened) => ({ ...opened, stderr: found.data }));
    case 'timeline': {
      const events = found.data;
      const whole = asked.what === 'timeline' && events.length < asked.count;
      return about((opened) => ({ ...opened, timeline: { ...opened.timeline, events, whole } }));
    }
    case 'then':
      return about((opened) => {
        const row = found.data.servers.find(({ name }) => name === opened.name) ?? null;
        return opened.moment === null ? opened : { ...opened, moment: { ...opened.moment, status: row } };
      });
  }
}

function withStatus(model: Model, servers: NonNullable<Model['status']>): Model {
  const rows = servers.toSorted((a, b) => byCodeUnit(a.name, b.name));
  const next: Model = {
    ...model,
    status: rows,
    list: { ...model.list, selected: model.list.selected ?? rows[0]?.name ?? null },
  };
  const { screen } = model;
  if (screen.at !== 'server' || rows.some(({ name }) => name === screen.opened.name)) return next;
  return model.status?.some(({ name }) => name === screen.opened.name)
    ? say(openServers(next), `${screen.opened.name} is no longer in the configuration.`, 'warn')
    : next;
}

function stretchesOf(
  intervals: readonly { server: string; state: string; from: string; to: string | null }[],
): Readonly<Record<string, readonly Stretch[]>> {
  const found: Record<string, Stretch[]> = {};
  for (const { server: name, state, from, to } of intervals) {
    const list = found[name] ?? [];
    found[name] = list;
    list.push({ state, from: Date.parse(from), to: to === null ? null : Date.parse(to) });
  }
  return found;
}
