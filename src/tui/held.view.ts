/** The panel of held calls, drawn over the lower part of the screen. Pure. */
import type { Call } from '../api/client.ts';
import { bytes } from '../cli/duration.ts';
import { oneLine } from '../cli/paint.ts';
import { fieldSpans } from './field.view.ts';
import { hasKeys, open, shown } from './held.ts';
import {
  cell,
  fitted,
  foreign,
  foreignLines,
  type Line,
  line,
  named,
  type Span,
  span,
  visible,
  widthOfLine,
  wrap,
} from './line.ts';
import type { Model } from './model.ts';
import { nextWords } from './states.ts';

/** Calls that wait for a person, put off or not. */
export const waitingCalls = ({ held }: Model): number => held.calls.length;

/** Lines of the server's own word on the tool, at most, and of what is unusual. */
const DESCRIBED = 3;
const UNUSUAL = 4;
/** The keys in whole words take so many columns. */
const NARROW = 70;

/** A text as it is, with what could not be seen in it written out: a person approves what stands here. */
const asItIs = (text: string, width: number): readonly Line[] =>
  wrap(visible(text).text.replace(/\t/g, '  '), width).map((one) => line(one));

/** An argument as people read it: texts as they are, everything else as JSON. */
function argumentLines(call: Call, width: number): readonly Line[] {
  if (call.arguments === undefined)
    return [line(`  ${bytes(call.argsBytes)} of arguments, not in memory any more`, 'quiet')];
  const given = Object.entries(call.arguments);
  if (given.length === 0) return [line('  no arguments', 'quiet')];
  return given.flatMap(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    const title = named(`${key}:`, 'strong');
    const [first = [], ...rest] = asItIs(text, Math.max(10, width - 4));
    const short = !text.includes('\n') && widthOfLine([title, ...first]) + 3 <= width && rest.length === 0;
    if (short) return [[span('  '), title, span(' '), ...first]];
    return [[span('  '), title], ...[first, ...rest].map((one): Line => [span('    '), ...one])];
  });
}

const hidesSomething = (value: unknown): boolean => {
  if (typeof value === 'string') return visible(value).hidden;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, member]) => visible(key).hidden || hidesSomething(member));
};

/** Who asked, in words. */
const askerOf = ({ client }: Call): string =>
  client === 'socket' ? 'a command on this machine' : client === 'main' ? 'a program with the main token' : client;

function titleOf(model: Model, call: Call): readonly Line[] {
  const calls = open(model.held);
  const count =
    calls.length > 1 ? ` (${calls.findIndex(({ id }) => id === call.id) + 1} of ${calls.length}, Tab: next)` : '';
  const ends = call.expiresAt === null ? '' : nextWords({ nextAttemptAt: call.expiresAt }, model.now);
  return [
    [span(' A call waits for you', 'warn'), span(count, 'quiet')],
    [
      span(' '),
      named(call.tool, 'strong'),
      span(' of '),
      named(call.server, 'strong'),
      span(' asked by '),
      named(askerOf(call)),
      span(ends === '' ? '' : `, expires ${ends}`, 'quiet'),
    ],
  ];
}

/** What the server says the tool does, and what is worth a look. */
function aboutOf(
  call: Call,
  width: number,
): { readonly described: readonly Line[]; readonly unusual: readonly Line[] } {
  const text = oneLine(call.description ?? '');
  const described = text === '' ? [] : foreignLines(`Its server says of it: ${text}`, width, 'quiet');
  const hidden = hidesSomething(call.arguments) ? ['The arguments hold characters that are not to be seen: \\u….'] : [];
  const unusual = [...hidden, ...(call.unusual ?? [])];
  const more = unusual.length - UNUSUAL;
  return {
    described: [
      ...described.slice(0, DESCRIBED - 1),
      ...(described.length < DESCRIBED
        ? []
        : [[...(described[DESCRIBED - 1] ?? []), span(described.length > DESCRIBED ? ' …' : '', 'quiet')]]),
    ].map((one): Line => [span(' '), ...one]),
    unusual: [
      ...unusual.slice(0, UNUSUAL).map((one): Line => [span(' ! ', 'bad'), foreign(one, 'bad')]),
      ...(more > 0 ? [line(` ! and ${more} more: watchkeeper approvals ${call.id}`, 'bad')] : []),
    ],
  };
}

function keysOf(model: Model): readonly Line[] {
  const { reason, armedAt } = model.held;
  if (reason !== null)
    return [[span(' Reason for the caller, if any: '), ...fieldSpans(reason, Math.max(10, model.columns - 34), true)]];
  // In the moment it appears no key counts, and none is shown; nothing moves when they come.
  const narrow = model.columns < NARROW;
  if (model.now < armedAt) return [line(' …', 'quiet'), ...(narrow ? [] : [[]])];
  const key = (letter: string, text: string): Span[] => [
    span(` ${letter}`, 'accent'),
    span(` ${text}${narrow ? '' : '  '}`),
  ];
  const last = [...key('d', 'deny'), ...key('l', 'later')];
  if (narrow) return [[...key('o', 'once'), ...key('t', 'tool'), ...key('s', 'server'), ...last]];
  return [
    [...key('o', 'once'), ...key('t', 'this tool from now on'), ...key('s', 'the whole server from now on')],
    last,
  ];
}

/** Nothing when no call is to be shown. While something else has the keyboard it takes little room. */
export function heldView(model: Model, room: number): readonly Line[] {
  const call = shown(model.held);
  if (call === null) return [];
  const rule = [cell('━'.repeat(model.columns), model.columns, 'warn')];
  const title = titleOf(model, call);
  if (!hasKeys(model)) {
    const how = model.question
      ? line(' The question below comes first.', 'quiet')
      : [span(' Ctrl-G', 'accent'), span(' answers it; what you type goes on going where it went')];
    return [rule, ...title, how].slice(0, room).map((one) => fitted(one, model.columns));
  }
  const keys = keysOf(model);
  const { described, unusual } = aboutOf(call, model.columns - 2);
  const all = argumentLines(call, model.columns - 2);
  // The keys and some of the arguments are there on every screen; the server's own word goes first.
  const fixed = 1 + title.length + keys.length;
  const wanted = Math.min(all.length, room > 10 ? 3 : 2);
  const warned = unusual.slice(0, Math.max(0, room - fixed - wanted));
  const told = described.slice(0, Math.max(0, room - fixed - warned.length - wanted - 1));
  const rest = room - fixed - warned.length - told.length;
  const blank: readonly Line[] = rest > wanted ? [[]] : [];
  const most = Math.max(1, rest - blank.length);
  const cutOff = all.length > most;
  const from = Math.min(model.held.scroll, Math.max(0, all.length - most + 1));
  const part = cutOff ? all.slice(from, from + most - 1) : all;
  const below = all.length - from - part.length;
  const more = cutOff ? [line(below > 0 ? `  ↓ ${below} more lines` : '  (end)', 'quiet')] : [];
  return [rule, ...title, ...told, ...warned, ...part, ...more, ...blank, ...keys]
    .slice(0, room)
    .map((one) => fitted(one, model.columns));
}
