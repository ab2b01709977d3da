/** Verdicts for people. Pure. */
import type { Doctor } from '../api/client.ts';
import { adviceFor } from './advice.text.ts';
import type { View } from './command.ts';
import { localTime } from './duration.ts';
import { oneLine } from './paint.ts';

type Server = Doctor['servers'][number];
type Check = Server['checks'][number];

const field = (title: string, text: string): string => `  ${title.padEnd(8)}  ${text}\n`;
/** The title stands at the first line only. */
const fields = (title: string, lines: readonly string[]): string =>
  lines.map((line, index) => field(index === 0 ? title : '', line)).join('');

const mark = (ok: boolean, view: View): string => view.paint(ok ? 'green' : 'red', ok ? 'ok   ' : 'wrong');

function checkLines(checks: readonly Check[], view: View): string[] {
  const width = Math.max(0, ...checks.map(({ name }) => name.length));
  return checks.flatMap(({ name, ok, detail, next }) => [
    `${mark(ok, view)}  ${name.padEnd(width)}  ${oneLine(detail)}`,
    ...(ok || next === null
      ? []
      : [`${' '.repeat(7 + width + 2)}${view.paint('bold', adviceFor(oneLine(next), view))}`]),
  ]);
}

const adviceLines = (advice: Server['advice'], view: View): string[] =>
  advice.flatMap(({ text, command, setting }) => [
    `${adviceFor(oneLine(text), view)}${command === undefined && setting === undefined ? '' : ':'}`,
    ...[command, setting].flatMap((line) =>
      line === undefined ? [] : [`  ${view.paint('bold', adviceFor(oneLine(line), view))}`],
    ),
  ]);

const evidenceLines = (evidence: Server['evidence']): string[] => {
  const width = Math.max(0, ...evidence.map(({ position }) => String(position ?? '').length));
  return evidence.map(
    ({ position, at, text }) =>
      `${String(position ?? '').padStart(width)}  ${at === null ? '' : `${localTime(at)}  `}${oneLine(text)}`,
  );
};

function head(server: Server, view: View): string {
  return `${mark(server.ok, view)}  ${view.paint('bold', server.name)}  ${oneLine(server.verdict)}${server.confidence === 'high' ? '' : ` (${server.confidence} confidence)`}\n`;
}

/** All that was found about one server. */
export function doctorDetails(server: Server, view: View): string {
  return [
    head(server, view),
    fields('state', [server.state]),
    fields('because', server.why.map(oneLine)),
    fields('rows', evidenceLines(server.evidence)),
    fields('advice', adviceLines(server.advice, view)),
    fields(
      'also',
      server.also.map(({ verdict, confidence }) => `${oneLine(verdict)} (${confidence})`),
    ),
    fields('checks', checkLines(server.checks, view)),
  ].join('');
}

/** A line for each server that is well; all that was found about the others, and about the daemon. */
export function doctorText({ servers, daemon }: Doctor, view: View): string {
  const well = servers.filter(({ ok }) => ok).map((server) => head(server, view));
  const ill = servers.filter(({ ok }) => !ok).map((server) => doctorDetails(server, view));
  const own = daemon
    ? `${mark(daemon.ok, view)}  ${view.paint('bold', 'the daemon')}\n${fields('checks', checkLines(daemon.checks, view))}`
    : '';
  return [well.join(''), ...ill, own].filter((part) => part !== '').join('\n');
}
