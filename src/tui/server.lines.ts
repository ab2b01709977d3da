/** What the tabs with running text say, as lines. Pure. */
import type { Why } from '../api/client.ts';
import { exactDuration, localTime } from '../cli/duration.ts';
import { harmless, oneLine } from '../cli/paint.ts';
import { isObject } from '../config/raw.ts';
import { tabRows } from './layout.ts';
import { foreignLines, type Line, line, span, wrap } from './line.ts';
import { lookOf } from './state.look.ts';
import type { Model, Opened } from './state.ts';

/** The time of day; with the date when it is not today. */
export function clock(iso: string, now: number): string {
  const text = localTime(iso);
  const today = localTime(new Date(now).toISOString()).slice(0, 10);
  return text.startsWith(today) ? text.slice(11) : text;
}

const indent = (lines: readonly Line[], by: number): readonly Line[] =>
  lines.map((one) => (one.length === 0 ? one : [span(' '.repeat(by)), ...one]));

/** Lines with a heading beside the first of them. */
const beside = (head: string, lines: readonly Line[]): readonly Line[] =>
  lines.map((one, index) => [span(index === 0 ? head : ' '.repeat(head.length), 'quiet'), ...one]);

export function whyLines(why: Why | null, now: number, width: number): readonly Line[] {
  if (why === null) return [line('Loading …', 'quiet')];
  const { tone, sign } = lookOf(why.state);
  const lasted = exactDuration(Date.parse(why.at) - Date.parse(why.since));
  const placed = (at: string, text: string): readonly Line[] => {
    const head = `  ${clock(at, now)}  `;
    return beside(head, foreignLines(oneLine(text), width - head.length));
  };
  const chain = why.chain.flatMap((link) => {
    const often = link.times !== undefined && link.times > 1 ? ` (${link.times} times)` : '';
    return placed(link.at, `${link.text}${often}`);
  });
  const changes = why.changes.flatMap((change) => placed(change.at, change.text));
  return [
    [span(`${sign} ${why.state}`, tone), span(` since ${clock(why.since, now)} (${lasted})`)],
    ...foreignLines(why.summary, width),
    ...(why.nextAttemptAt === null ? [] : [line(`Next attempt at ${clock(why.nextAttemptAt, now)}.`)]),
    ...(why.next === null
      ? []
      : [[], ...foreignLines(why.next.text, width, 'strong'), ...indent(foreignLines(why.next.command, width - 2), 2)]),
    [],
    line('Because, newest first', 'strong'),
    ...chain,
    ...(why.omitted > 0 ? [line(`  … ${why.omitted} more left out`, 'quiet')] : []),
    ...(changes.length > 0 ? [[], line('What changed around it', 'strong'), ...changes] : []),
  ];
}

/** The running process's stderr, or the last words of the one before. */
export function stderrLines({ stderr, why, moment }: Opened, now: number, width: number): readonly Line[] {
  const live = moment === null && stderr?.text != null;
  if (live) {
    const head = line(`Process ${stderr.pid ?? ''} is running; the last it wrote, newest at the bottom:`, 'quiet');
    const text = stderr.text ?? '';
    return text.trim() === ''
      ? [line(`Process ${stderr.pid ?? ''} is running and has written nothing to stderr.`, 'quiet')]
      : [head, ...foreignLines(text.trimEnd(), width)];
  }
  if (why?.stderr) {
    const head = line(`No process runs. Last words of the one before, ${clock(why.stderr.at, now)}:`, 'quiet');
    return [head, ...foreignLines(why.stderr.text.trimEnd(), width)];
  }
  if (why === null || (moment === null && stderr === null)) return [line('Loading …', 'quiet')];
  return [line('No process runs, and none has left words on stderr.', 'quiet')];
}

/** An entry as it stands in the file, secrets hidden. */
export function configLines(model: Pick<Model, 'config' | 'around'>, name: string, width: number): readonly Line[] {
  const { config } = model;
  if (config === null) return [line('Loading …', 'quiet')];
  const entry = config.servers[name];
  if (entry === undefined) return [line('It is not in the file any more.', 'warn')];
  const text = JSON.stringify({ [name]: entry }, null, 2);
  return [
    ...wrap(harmless(model.around.configFile), width).map((one) => line(one, 'quiet')),
    line('*** stands for a value that is not shown. e changes the entry.', 'quiet'),
    [],
    ...text.split('\n').flatMap((one) => jsonLine(one, width)),
  ];
}

function jsonLine(text: string, width: number): readonly Line[] {
  const [, before = '', key = '', rest = ''] = /^(\s*)("(?:[^"\\]|\\.)*": )?(.*)$/.exec(harmless(text)) ?? [];
  const room = width - before.length;
  if (key.length + rest.length > room) return wrap(`${key}${rest}`, room).map((one) => [span(before), span(one)]);
  return [[span(before), span(key, 'accent'), span(rest)]];
}

export function loginLines(model: Model, name: string, width: number): readonly Line[] {
  const { config } = model;
  if (config === null) return [line('Loading …', 'quiet')];
  const stored = config.oauth[name] === true;
  const required = model.status?.find((server) => server.name === name)?.state === 'auth-required';
  const oauth = config.servers[name]?.oauth;
  const scopes = isObject(oauth) && Array.isArray(oauth.scopes) ? oauth.scopes.map(String).join(' ') : '';
  const say = (text: string): readonly Line[] => wrap(text, width).map((one) => line(one));
  return [
    stored ? line('You are logged in: a token is kept.', 'good') : line('No token is kept for this server.', 'warn'),
    ...(required ? [line('The server wants a login.', 'bad')] : []),
    ...(scopes === '' ? [] : foreignLines(`Scopes asked for: ${scopes}`, width)),
    [],
    [span('Enter', 'accent'), span(stored ? '  log in again' : '  log in')],
    ...(stored ? [[span('o', 'accent'), span('      log out')]] : []),
    [span('c', 'accent'), span('      give a client you registered by hand (id, secret, redirect URI)')],
    [],
    ...say(
      'Most servers register a client by themselves. Where one refuses, register one in its console and give it with c.',
    ),
  ];
}

/** Everything the present tab says; empty for the tabs that are lists. */
export function textLines(model: Model, opened: Opened): readonly Line[] {
  // A blank column on either side.
  const width = model.size.columns - 2;
  switch (opened.tab) {
    case 'why':
      return whyLines(opened.why, model.now, width);
    case 'stderr':
      return stderrLines(opened, model.now, width);
    case 'config':
      return configLines(model, opened.name, width);
    case 'login':
      return loginLines(model, opened.name, width);
    default:
      return [];
  }
}

/** How far the text can be scrolled. */
export const furthest = (model: Model, opened: Opened): number =>
  Math.max(0, textLines(model, opened).length - tabRows(model.size));
