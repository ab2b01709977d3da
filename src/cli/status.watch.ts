/** `status --watch`: the status again whenever something happened. */
import type { ServerStatus, Status } from '../api/client.ts';
import { DaemonUnreachable } from '../api/errors.ts';
import type { Context, Piece } from './command.ts';
import { exitCode } from './failure.ts';
import { statusKey, statusLine, statusTable } from './status.text.ts';

/** A burst of facts is one change. */
const settleMs = 50;
/** Ages and waiting times on a screen go on although nothing happens. */
const tickMs = 1000;

/** Something that can happen again and again, and that somebody waits for. */
function bell(): { ring: () => void; heard: (limitMs: number | undefined) => Promise<void> } {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    async heard(limitMs) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = limitMs === undefined ? undefined : setTimeout(resolve, limitMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      wake = undefined;
      rung = false;
    },
  };
}

/** Lines for the servers that differ from what was printed last. */
export function changedLines(before: ReadonlyMap<string, string>, now: readonly ServerStatus[], at: number): string[] {
  const gone = [...before.keys()].filter((name) => !now.some((server) => server.name === name));
  return [
    ...now.filter((server) => before.get(server.name) !== statusKey(server)).map((server) => statusLine(server, at)),
    ...gone.map((name) => `${new Date(at).toISOString()}  ${name}  removed`),
  ];
}

const keysOf = (servers: readonly ServerStatus[]): Map<string, string> =>
  new Map(servers.map((server) => [server.name, statusKey(server)]));

/** Begins with the status `first` and goes on until interrupted, also over restarts of the daemon. */
export async function* watchStatus(
  context: Context,
  name: string | undefined,
  first: Status,
): AsyncGenerator<Piece, number> {
  const { api, now } = context;
  let status = first;
  const live = context.terminal.live && !context.json;
  const signal = context.untilInterrupted();
  const changed = bell();
  let broken: unknown;
  const listening = (async () => {
    try {
      for await (const _ of api.followEvents({ signal })) changed.ring();
    } catch (error) {
      broken = error;
    }
    changed.ring();
  })();
  signal.addEventListener('abort', changed.ring);

  let known: ReadonlyMap<string, string> = new Map();
  let reachable = true;
  while (!signal.aborted && broken === undefined) {
    const lines = changedLines(known, status.servers, now());
    const shown = status;
    if (live) {
      const warning = reachable ? '' : 'The daemon does not answer; this is the last known status.\n';
      yield { redraw: true, text: (view) => `${statusTable(shown, view)}${view.paint('yellow', warning)}` };
    } else if (lines.length > 0) yield { json: shown, text: () => lines.map((line) => `${line}\n`).join('') };
    known = keysOf(status.servers);
    await changed.heard(live ? tickMs : undefined);
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    try {
      const { servers } = await api.status();
      status = { servers: servers.filter((server) => name === undefined || server.name === name) };
      reachable = true;
    } catch (error) {
      if (!(error instanceof DaemonUnreachable)) throw error;
      if (reachable && !live) yield { notes: ['The daemon does not answer; waiting for it.'] };
      reachable = false;
    }
  }
  await listening;
  if (broken !== undefined) throw broken;
  return exitCode.done;
}
