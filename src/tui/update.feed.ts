/** What comes from the daemon: facts, and answers to what was asked. Pure. */
import type { LogEvent } from '../api/follow.ts';
import { fieldOf } from './field.ts';
import { entryOf } from './form.ts';
import { grantsOf, isChanged } from './grants.ts';
import { withCalls } from './held.ts';
import { open } from './list.keys.ts';
import { type Command, loadAll, type Message, type Model, type Said, type Step, say, step } from './model.ts';
import { startLogin } from './server.keys.ts';
import type { Stretch } from './spark.ts';
import { withFacts } from './timeline.ts';
import { typed } from './update.input.ts';

type FromDaemon = Exclude<Message, { readonly kind: 'input' | 'tick' | 'size' }>;

export function feedMessage(model: Model, message: FromDaemon): Step {
  switch (message.kind) {
    case 'link':
      return linked(model, message.up, message.at);
    case 'fact':
      return heard(model, message.fact);
    case 'servers':
      return withServers({ ...model, servers: message.answer.servers });
    case 'config': {
      const { servers, oauth, problem, redirect_uri: redirect = '' } = message.answer;
      return step({ ...model, entries: servers, tokens: oauth, redirect, configProblem: problem?.message ?? null });
    }
    case 'history':
      return step({ ...model, past: pastOf(message.answer.intervals) });
    case 'held': {
      const { model: next, ring } = withCalls(model, message.calls);
      return ring && model.bell ? step(next, { do: 'ring' }) : step(next);
    }
    case 'not-loaded': {
      // Of a server nobody looks at any more it is no news, and it takes nothing away that was said.
      const counts = model.said === null && (message.name === null || message.name === model.server?.name);
      return step(counts ? say(model, message.text, 'bad') : model);
    }
    case 'typed':
      return typed(model, message.words);
    case 'said':
      return step(trouble(model, message.tone, message.text));
    default:
      return answered(model, message);
  }
}

function linked(model: Model, up: boolean, at: number): Step {
  if (up === model.link.up) return up ? step(model, ...loadAll(model)) : step(model);
  const next: Model = { ...model, now: Math.max(model.now, at), link: { up, since: at } };
  return up ? step(say(next, 'The daemon is back.'), ...loadAll(next)) : step(next);
}

/** A server that was asked for by name is opened as soon as it is known. */
function withServers(model: Model): Step {
  const { opening } = model;
  if (opening === null) return step(model);
  if (model.servers?.some(({ name }) => name === opening)) return open(model, opening);
  return step(say({ ...model, opening: null }, `There is no server "${opening}".`, 'bad'));
}

const serverOf = (stream: string): string | null => (stream.startsWith('server-') ? stream.slice(7) : null);

/** A fact moves what it is about at once; the numbers around it are asked for. */
function heard(model: Model, fact: LogEvent): Step {
  const { stream, data, at } = fact;
  if (stream.startsWith('call-')) return step(model, { do: 'load-held' });
  if (stream === 'allowlist') return step(model, ...ofOpened(model));
  if (stream === 'logins' || stream === 'config') return step(model, { do: 'load-config' }, { do: 'load-servers' });
  const name = serverOf(stream);
  if (name === null) return step(model, { do: 'load-servers' });
  const to = typeof data.to === 'string' ? data.to : null;
  const next: Model = {
    ...model,
    servers: (model.servers ?? []).map((row) =>
      row.name === name && to !== null && to !== row.state ? { ...row, state: to as typeof row.state, since: at } : row,
    ),
    past: { ...model.past, [name]: withStretch(model.past[name] ?? [], to, Date.parse(at)) },
    server:
      model.server?.name === name && model.server.facts !== null
        ? { ...model.server, facts: withFacts(model.server.facts, [fact]) }
        : model.server,
  };
  const wanted: Command[] = [{ do: 'load-servers' }];
  if (fact.type === 'ServerConfigured' || fact.type === 'ServerRemoved') wanted.push({ do: 'load-config' });
  if (next.server?.name === name && next.server.at === null) {
    wanted.push({ do: 'load-why', name, at: null });
    if (next.server.tab === 'stderr') wanted.push({ do: 'load-stderr', name });
    if (fact.type === 'ToolsListed') wanted.push({ do: 'load-tools', name, at: null });
  }
  return step({ ...next, servers: model.servers === null ? null : next.servers }, ...wanted);
}

const ofOpened = ({ server }: Model): readonly Command[] =>
  server === null || server.at !== null ? [] : [{ do: 'load-tools', name: server.name, at: null }];

/** The running stretch ends where the next state begins. */
function withStretch(known: readonly Stretch[], to: string | null, at: number): readonly Stretch[] {
  const last = known.at(-1);
  if (to === null || last?.state === to) return known;
  const ended = known.map((one) => (one === last ? { ...one, to: at } : one));
  return [...ended, { state: to, from: at, to: null }].slice(-500);
}

function pastOf(
  intervals: readonly { server: string; state: string; from: string; to: string | null }[],
): Model['past'] {
  const past: Record<string, Stretch[]> = {};
  for (const { server, state, from, to } of intervals) {
    past[server] ??= [];
    past[server].push({ state, from: Date.parse(from), to: to === null ? null : Date.parse(to) });
  }
  return past;
}

/** What went wrong is said where the person looks, and there alone. */
function trouble(model: Model, tone: Said['tone'], text: string): Model {
  if (tone !== 'bad') return say(model, text, tone);
  if (model.login)
    return { ...model, login: { ...model.login, field: fieldOf(), said: { tone: 'bad', text, until: 0 } } };
  const add = model.add?.trial === 'trying' ? { ...model.add, trial: null } : model.add;
  return say({ ...model, add }, text, tone);
}

type Answer = Exclude<
  FromDaemon,
  { readonly kind: 'link' | 'fact' | 'servers' | 'config' | 'history' | 'held' | 'typed' | 'said' | 'not-loaded' }
>;

/** Answers about one server count only while it is the one that is looked at. */
function answered(model: Model, message: Answer): Step {
  const { server } = model;
  const mine = server?.name === message.name ? server : null;
  switch (message.kind) {
    case 'tools': {
      if (mine === null || mine.at !== message.at) return step(model);
      const fresh = grantsOf(message.entries, message.suspended);
      const kept = mine.grants !== null && isChanged(mine.grants) ? { ...fresh, ticked: mine.grants.ticked } : fresh;
      return step({ ...model, server: { ...mine, tools: message.tools, grants: kept } });
    }
    case 'facts':
      return step(mine ? { ...model, server: { ...mine, facts: withFacts(mine.facts ?? [], message.facts) } } : model);
    case 'as-of':
      return step(mine?.at === message.at ? { ...model, server: { ...mine, asOf: message.status } } : model);
    case 'why':
      return step(
        mine !== null && mine.at === message.at ? { ...model, server: { ...mine, why: message.why } } : model,
      );
    case 'stderr':
      return step(mine === null ? model : { ...model, server: { ...mine, stderr: message.stderr } });
    case 'granted': {
      const grants = grantsOf(message.entries, []);
      const all =
        message.entries.length === 0
          ? 'Every tool asks now'
          : message.entries.some((entry) => entry.endsWith('__*'))
            ? 'The whole server runs without asking'
            : `${message.entries.length} run without asking`;
      return step(say(mine ? { ...model, server: { ...mine, grants } } : model, `Saved: ${all}.`));
    }
    case 'removed': {
      const next = say({ ...model, server: mine ? null : server }, `${message.name} is removed.`);
      return step(next, { do: 'load-servers' }, { do: 'load-config' });
    }
    case 'tried':
      return tried(model, message);
    case 'saved':
      return saved(model, message);
    case 'login-url':
      return step(
        model.login?.name === message.name ? { ...model, login: { ...model.login, url: message.url } } : model,
      );
    case 'login-over':
      if (model.login?.name !== message.name) return step(model);
      if (message.ok) return step(say({ ...model, login: null }, message.text), { do: 'load-config' });
      return step(trouble(model, 'bad', `${message.text} Esc goes back.`));
    case 'client-given':
      return startLogin(model, message.name);
  }
}

function tried(model: Model, { name, trial }: Extract<Answer, { kind: 'tried' }>): Step {
  const { add } = model;
  if (add === null || add.trial !== 'trying') return step(model);
  if (!trial.ok) return step({ ...model, add: { ...add, trial } });
  return step(
    { ...model, add: { ...add, trial } },
    { do: 'save', name, entry: entryOf(add.form), replaces: add.form.editing !== null },
  );
}

function saved(model: Model, { name, oauth }: Extract<Answer, { kind: 'saved' }>): Step {
  const { trial = null } = model.add ?? {};
  const tools = trial !== null && trial !== 'trying' && trial.ok ? ` It offers ${trial.tools.length} tools.` : '';
  const opened = open(say({ ...model, add: null }, `${name} is saved.${tools}`), name, 'tools');
  const login = oauth ? startLogin(opened.model, name) : step(opened.model);
  return step(login.model, { do: 'load-config' }, { do: 'load-servers' }, ...opened.commands, ...login.commands);
}
