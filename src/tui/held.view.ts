/** The panel of held calls, drawn over the lower part of the screen. Pure. */
import type { Call } from '../api/client.ts';
import { bytes } from '../cli/duration.ts';
import { fieldSpans } from './field.view.ts';
import { hasKeys, open, shown } from './held.ts';
import { cell, fitted, foreign, foreignLines, type Line, line, type Span, span, widthOfLine } from './line.ts';
import type { Model } from './model.ts';
import { nextWords } from './states.ts';

/** Calls that wait for a person, put off or not. */
export const waitingCalls = ({ held }: Model): number => held.calls.length;

/** An argument as people read it: texts as they are, everything else as JSON. */
function argumentLines(call: Call, width: number): readonly Line[] {
  if (call.arguments === undefined)
    return [line(`  ${bytes(call.argsBytes)} of arguments, not in memory any more`, 'quiet')];
  const given = Object.entries(call.arguments);
  if (given.length === 0) return [line('  no arguments', 'quiet')];
  return given.flatMap(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    const title = `${key}: `;
    const [first = [], ...rest] = foreignLines(text, Math.max(10, width - 4));
    const short = !text.includes('\n') && widthOfLine(first) + title.length + 2 <= width && rest.length === 0;
    if (short) return [[span('  '), foreign(title.trim(), 'strong'), span(' '), ...first]];
    return [
      [span('  '), foreign(title.trim(), 'strong')],
      ...[first, ...rest].map((one): Line => [span('    '), ...one]),
    ];
  });
}

/** Who asked, in words. */
const askerOf = ({ client }: Call): string =>
  client === 'socket' ? 'a command on this machine' : client === 'main' ? 'a program with the main token' : client;

function headOf(model: Model, call: Call): readonly Line[] {
  const calls = open(model.held);
  const count =
    calls.length > 1 ? ` (${calls.findIndex(({ id }) => id === call.id) + 1} of ${calls.length}, Tab: next)` : '';
  const ends = call.expiresAt === null ? '' : nextWords({ nextAttemptAt: call.expiresAt }, model.now);
  return [
    [span(' A call waits for you', 'warn'), span(count, 'quiet')],
    [
      span(' '),
      foreign(call.tool, 'strong'),
      span(' of '),
      foreign(call.server, 'strong'),
      span(' asked by '),
      foreign(askerOf(call)),
      span(ends === '' ? '' : `, expires ${ends}`, 'quiet'),
    ],
    ...(call.unusual ?? []).map((text): Line => [span(' ! ', 'bad'), foreign(text, 'bad')]),
  ];
}

function keysOf(model: Model): readonly Line[] {
  const { reason, armedAt } = model.held;
  if (reason !== null) {
    return [
      [span(' Reason for the caller: '), ...fieldSpans(reason, Math.max(10, model.columns - 26), true)],
      [span(' Enter', 'accent'), span(' denies, with or without a reason   '), span('Esc', 'accent'), span(' back')],
    ];
  }
  if (!hasKeys(model))
    return [[span(' Ctrl-G', 'accent'), span(' answers it; what you type goes on going where it went')]];
  if (model.now < armedAt) return [line(' …', 'quiet')];
  const key = (letter: string, text: string): Span[] => [span(` ${letter}`, 'accent'), span(` ${text}  `)];
  return [
    [...key('o', 'once'), ...key('t', 'this tool from now on'), ...key('s', 'the whole server from now on')],
    [...key('d', 'deny'), ...key('l', 'later')],
  ];
}

/** Nothing when no call is to be shown. */
export function heldView(model: Model, room: number): readonly Line[] {
  const call = shown(model.held);
  if (call === null) return [];
  const rule = [cell('━'.repeat(model.columns), model.columns, 'warn')];
  const [head, keys] = [headOf(model, call), keysOf(model)];
  const all = argumentLines(call, model.columns - 2);
  const most = Math.max(1, room - head.length - keys.length - 2);
  const from = Math.min(model.held.scroll, Math.max(0, all.length - most + 1));
  const cutOff = all.length > most;
  const part = cutOff ? all.slice(from, from + most - 1) : all;
  const below = all.length - from - part.length;
  const more = cutOff ? [line(below > 0 ? `  ↓ ${below} more lines` : '  (end)', 'quiet')] : [];
  return [rule, ...head, ...part, ...more, [], ...keys].map((one) => fitted(one, model.columns));
}
