/** What the built-in tools answer, in words for a model: short lines, times in UTC, newest first. Pure. */
import type { z } from 'zod';
import type { toolsHistory } from '../http/contract.catalog.ts';
import type { doctor } from '../http/contract.doctor.ts';
import type { history, status } from '../http/contract.ts';
import type { why } from '../http/contract.why.ts';
import { classed, counted, exactDuration } from '../replay/words.ts';

type Status = z.infer<typeof status>;
type Why = z.infer<typeof why>;
type History = z.infer<typeof history>;
type Doctor = z.infer<typeof doctor>;
type ToolsHistory = z.infer<typeof toolsHistory>;

/** A line can hold what a server wrote: it stays one line. */
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
const lines = (...parts: readonly (string | false | readonly string[])[]): string =>
  parts
    .flat()
    .filter((part) => part !== false)
    .join('\n');

/** How long ago, or for how long. */
const since = (from: string, now: number): string => exactDuration(now - Date.parse(from));

function serverLine(server: Status['servers'][number], now: number): string {
  const { name, state, tools, error, nextAttemptAt } = server;
  const parts = [
    `${name}: ${state} for ${since(server.since, now)}`,
    counted(tools, 'tool'),
    ...(error ? [oneLine(classed(error))] : []),
    ...(nextAttemptAt ? [`next attempt at ${nextAttemptAt}`] : []),
  ];
  return parts.join('; ');
}

export function statusWords({ servers }: Status, now: number): string {
  const ready = servers.filter(({ connected }) => connected).length;
  const trouble = servers.filter(({ state, connected }) => !connected && state !== 'disabled' && state !== 'idle');
  return lines(
    `${ready} of ${counted(servers.length, 'server')} ready.`,
    servers.map((server) => `- ${serverLine(server, now)}`),
    trouble.length > 0 && `To learn more, call \`why\` with the name of a server, such as "${trouble[0]?.name}".`,
  );
}

export function whyWords(answer: Why): string {
  const { chain, omitted, stderr, next, until } = answer;
  const changes = answer.changes.filter((one) => !chain.some(({ at, text }) => at === one.at && text === one.text));
  const ahead = answer.nextAttemptAt !== null && answer.nextAttemptAt > answer.at;
  return lines(
    `${answer.server}: ${answer.state} since ${answer.since}${until ? `, until ${until.at}` : ''}.`,
    `${oneLine(answer.summary)}${ahead ? ` The next attempt is at ${answer.nextAttemptAt}.` : ''}`,
    'What led to it, newest first:',
    chain.map(({ at, text }) => `- ${at} ${oneLine(text)}`),
    omitted > 0 && `(${omitted} in the middle are left out)`,
    changes.length > 0 && 'What changed around it:',
    changes.map(({ at, text }) => `- ${at} ${oneLine(text)}`),
    stderr !== null && `The last words of its process:\n${stderr.text.trimEnd()}`,
    next !== null && `What a person can do: ${oneLine(next.text)} ${next.command}`,
  );
}

/** `omitted`: how many older intervals were left out. */
export function historyWords(name: string, { intervals }: History, omitted: number, now: number): string {
  if (intervals.length === 0) return `Nothing is known of ${name} in that time.`;
  return lines(
    `${name}, newest first:`,
    intervals.toReversed().map(({ state, from, to, cause }) => {
      const lasted = exactDuration((to === null ? now : Date.parse(to)) - Date.parse(from));
      return `- ${from} ${state} for ${lasted}${to === null ? ' until now' : ''}${cause ? ` (${oneLine(cause)})` : ''}`;
    }),
    omitted > 0 &&
      `(${omitted === 1 ? '1 older one is' : `${omitted} older ones are`} left out; ask with \`to\` set to ${intervals[0]?.from} to see more)`,
  );
}

type Verdict = Doctor['servers'][number];

function verdictWords(server: Verdict): string {
  const { name, ok, verdict, state, confidence, why: because, advice, checks } = server;
  if (ok) return `- ${name}: ${oneLine(verdict)}`;
  const sure = confidence === 'high' ? '' : ` (${confidence} confidence)`;
  return lines(
    `- ${name}: ${oneLine(verdict)}${sure}; it is ${state}`,
    because.map((text) => `  because: ${oneLine(text)}`),
    checks.filter((check) => !check.ok).map((check) => `  check ${check.name}: ${oneLine(check.detail)}`),
    advice.map(
      ({ text, command, setting }) =>
        `  a person can: ${oneLine([text, command, setting].filter((part) => part !== undefined).join(': '))}`,
    ),
  );
}

export function doctorWords({ ok, servers, daemon }: Doctor): string {
  const ill = [...servers.filter((server) => !server.ok), ...servers.filter((server) => server.ok)];
  return lines(
    ok ? 'Nothing is wrong.' : 'Something is wrong.',
    ill.map(verdictWords),
    (daemon?.checks ?? [])
      .filter((check) => !check.ok)
      .map(({ name, detail }) => `- watchkeeper itself: ${name}: ${oneLine(detail)}`),
  );
}

type Step = ToolsHistory['changes'][number];

/** `compare`: what differs between two definitions, a line each. */
export function catalogWords({ changes }: ToolsHistory, compare: (step: Step) => readonly string[]): string {
  if (changes.length === 0) return 'No tool came, went or changed in that time.';
  return lines(
    `${counted(changes.length, 'change')}, newest first:`,
    changes.toReversed().map((step) => {
      const grant = step.grant?.suspended ? '; its grant is suspended, so the next call asks a person' : '';
      return lines(
        `- ${step.at} ${step.name} ${step.change}${grant}`,
        step.change === 'changed' ? compare(step).map((line) => `    ${oneLine(line)}`) : [],
      );
    }),
  );
}
