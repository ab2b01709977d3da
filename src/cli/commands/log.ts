import { unknownServer } from '../ask.daemon.ts';
import type { Command, Context, Piece } from '../command.ts';
import { eventLine } from '../event.text.ts';
import { exitCode } from '../failure.ts';
import { eventsBetween, lastPosition, newest, startOf } from '../log.reader.ts';
import { withLog } from '../offline.log.ts';
import { count, flag, moment, type Options, text } from '../options.ts';
import type { Event } from '../shapes.ts';

const usual = 50;

const filterOf = (server: string | undefined, options: Options) => ({
  stream: server === undefined ? text(options, 'stream') : `server-${server}`,
  type: text(options, 'type'),
});

interface Collected {
  readonly events: Event[];
  /** Where the log ended. */
  readonly last: number;
  /** Where to go on, when a limit ended it. */
  readonly next: number | null;
}

/** The facts asked for, out of the daemon or the file: since a moment, or the newest ones. */
function collect(context: Context, server: string | undefined, options: Options): Promise<Collected> {
  const since = moment(options, 'since', context.now());
  const limit = count(options, 'limit');
  const filter = filterOf(server, options);
  return withLog(context, async (read) => {
    const last = await lastPosition(read);
    if (!since) return { events: await newest(read, limit ?? usual, filter), last, next: null };
    const events: Event[] = [];
    for await (const event of eventsBetween(read, await startOf(read, since), last, filter)) {
      if (events.length === limit) return { events, last, next: events.at(-1)?.position ?? null };
      events.push(event);
    }
    return { events, last, next: null };
  });
}

const piece = (event: Event): Piece => ({ json: event, text: (view) => eventLine(event, view) });

async function* follow(context: Context, server: string | undefined, options: Options): AsyncGenerator<Piece, number> {
  // Fails at once when no daemon runs: a file does not grow.
  await context.api.health();
  const signal = context.untilInterrupted();
  const { events, last } = await collect(context, server, options);
  for (const event of events) yield piece(event);
  const after = events.at(-1)?.position ?? last;
  for await (const followed of context.api.followEvents({ ...filterOf(server, options), after, signal })) {
    if (followed.kind === 'event') yield piece(followed.event);
    else if (followed.kind === 'gap')
      yield { notes: [`The log was pruned: facts ${followed.from} to ${followed.to} are gone.`] };
    else yield { notes: ['The daemon does not answer; waiting for it.'] };
  }
  return exitCode.done;
}

/** Somebody who mistypes a server's name must not take silence for peace. */
async function mustHaveFacts(context: Context, server: string): Promise<void> {
  const known = await context.api.status().catch(() => null);
  const names = known?.servers.map(({ name }) => name);
  if (names && !names.includes(server)) throw unknownServer(server, names, 'log');
}

export const log: Command = {
  description: {
    name: 'log',
    group: 'Log',
    summary: 'show what happened',
    arguments: [{ name: '[server]', about: 'only facts of this server' }],
    options: [
      { flags: '--follow', about: 'stay and print facts as they come' },
      { flags: '--since <T>', about: 'start at a time, a log position or a span ago such as 10m' },
      { flags: '--type <type>', about: 'only facts of this type, such as SessionLost' },
      { flags: '--stream <stream>', about: 'only this stream, such as config or allowlist' },
      { flags: '--limit <n>', about: `at most so many; without --since the newest ${usual}` },
    ],
    examples: [
      { line: 'log github --since 2h', about: 'what happened to one server in the last two hours' },
      { line: 'log --type SessionLost --json', about: 'every loss among all servers' },
      { line: 'log --follow', about: 'everything as it happens; Ctrl-C ends it' },
    ],
  },
  async run(context, { positional: [server] }, options) {
    if (flag(options, 'follow')) return { kind: 'stream', pieces: follow(context, server, options) };
    const { events, next } = await collect(context, server, options);
    if (server !== undefined && events.length === 0) await mustHaveFacts(context, server);
    return {
      kind: 'answer',
      json: { events, next },
      text: (view) => events.map((event) => eventLine(event, view)).join(''),
      notes: events.length > 0 ? [] : ['Nothing of that kind is in the log.'],
    };
  },
};
