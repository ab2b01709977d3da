/** The whole screen as lines: a title, a body, a message, keys. Pure. */
import { counted } from '../cli/duration.ts';
import { oneLine, widthOf } from '../cli/paint.ts';
import { addView } from './add.view.ts';
import { clientView } from './client.view.ts';
import { fieldSpans } from './field.view.ts';
import { heldView, waitingCalls } from './held.view.ts';
import { helpView, hintsOf } from './help.view.ts';
import { fitted, foreignLines, type Line, line, type Span, span, type Tone, widthOfLine, wrap } from './line.ts';
import { listView } from './list.view.ts';
import { loginView } from './login.view.ts';
import type { Model } from './model.ts';
import { serverView } from './server.view.ts';
import { lookOf } from './states.ts';

/** How many lines stand around the body: the title, what was last said, the keys. */
const AROUND = 3;
/** What was said takes so many lines, at most. */
const SAID_LINES = 3;

/** How the screen is divided, from above to below. */
function parts(model: Model) {
  const messages = messageLines(model);
  const room = Math.max(4, model.rows - 1) - AROUND - (messages.length - 1);
  const panel = heldView(model, room);
  const asked = questionLines(model).slice(0, room - panel.length);
  return { messages, panel, asked, body: room - panel.length - asked.length };
}

/** Lines of the body. */
export const bodyHeight = (model: Model): number => parts(model).body;

/** How many servers are in which state; on a narrow screen only those that run or are to run. */
function counts(model: Model): Span[] {
  if (model.servers === null) return [];
  const wide = model.columns >= 100;
  const byState = new Map<string, number>();
  for (const { state } of model.servers) byState.set(state, (byState.get(state) ?? 0) + 1);
  const parts = [...byState]
    .filter(([state]) => wide || lookOf(state).tone !== 'quiet')
    .toSorted(([a], [b]) => lookOf(a).rank - lookOf(b).rank);
  return [
    span(wide || parts.length === 0 ? `  ${counted(model.servers.length, 'server')}` : ' ', 'quiet'),
    ...parts.flatMap(([state, count], index): Span[] => [
      span(index === 0 && !wide ? ' ' : ' · ', 'quiet'),
      span(`${lookOf(state).sign} ${count} ${state}`, lookOf(state).tone),
    ]),
  ];
}

function title(model: Model): Line {
  const waiting = waitingCalls(model);
  const right: Span[] = waiting > 0 ? [span(` ${counted(waiting, 'call')} waiting (h) `, 'warn')] : [];
  const left = fitted([span(' Watchkeeper', 'strong'), ...counts(model)], model.columns - widthOfLine(right));
  const room = model.columns - widthOfLine(left) - widthOfLine(right);
  return [...left, span(' '.repeat(Math.max(0, room))), ...right];
}

function body(model: Model, height: number): readonly Line[] {
  if (model.help) return helpView(model, height);
  if (model.login) return loginView(model, height);
  if (model.client) return clientView(model, height);
  if (model.add) return addView(model, height);
  if (model.server) return serverView(model, height);
  return listView(model, height);
}

/** Above the keys: what was last said, or that the daemon is away. At least one line. */
function messageLines({ said, link, now, configProblem, columns }: Model): readonly Line[] {
  const told = (sign: string, text: string, tone: Tone): readonly Line[] => {
    const lines = foreignLines(oneLine(text), columns - 1 - widthOf(sign), tone);
    const kept = lines.slice(0, SAID_LINES);
    return kept.map((one, index) => [
      span(index === 0 ? ` ${sign}` : ' '.repeat(1 + widthOf(sign)), 'bad'),
      ...one,
      ...(index === SAID_LINES - 1 && lines.length > SAID_LINES ? [span(' …', tone)] : []),
    ]);
  };
  if (!link.up) {
    const seconds = Math.max(0, Math.floor((now - link.since) / 1000));
    return [
      [span(' The daemon does not answer', 'bad'), span(` (${seconds} s). Trying again; what you see is from before.`)],
    ];
  }
  if (said) return told(said.tone === 'bad' ? '✗ ' : '', said.text, said.tone);
  return configProblem === null ? [[]] : told('mcp.json: ', configProblem, 'plain');
}

function foot(model: Model): Line {
  if (model.question) {
    return [span(` ${model.question.text} `, 'strong'), span('y', 'accent'), span(' yes, any other key: no')];
  }
  if (model.line) return [span(' '), ...fieldSpans(model.line, model.columns - 2, true)];
  return hintsOf(model);
}

const questionLines = ({ question, columns }: Model): readonly Line[] =>
  question === null ? [] : [[], ...wrap(question.about, columns - 2).map((text) => line(` ${text}`))];

/** Exactly `rows - 1` lines of at most `columns` columns: the last row stays free for the cursor. */
export function view(model: Model): readonly Line[] {
  const { messages, panel, asked, body: height } = parts(model);
  // A panel takes its place from below: what is chosen or typed stays in sight above it.
  const drawn = body(model, height).slice(0, height);
  const filled = [...drawn, ...Array.from({ length: height - drawn.length }, (): Line => [])];
  return [title(model), ...filled, ...asked, ...panel, ...messages, foot(model)].map((one) =>
    fitted(one, model.columns),
  );
}
