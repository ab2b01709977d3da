/** The MCP endpoint: all servers behind `/mcp`, each one behind `/mcp/<server>`, for clients of both eras. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallDesk } from '../actors/call/call.actor.ts';
import type { Supervisor } from '../actors/supervisor.ts';
import type { EventLog } from '../events/log.ts';
import type { Caller } from '../http/keeper.ts';
import type { Directory } from '../keeper/directory.ts';
import type { Method } from './asked.ts';
import { Changes } from './changes.ts';
import { Door } from './door.ts';
import { Greeting } from './greeting.ts';
import { Heartbeat } from './heartbeat.ts';
import { Listens } from './listens.ts';
import { Lists } from './lists.ts';
import { isLogLevel } from './log.levels.ts';
import { Logging } from './logging.ts';
import { ParkingLot } from './parked.ts';
import { promptMethods } from './prompts.ts';
import { Relay } from './relay.ts';
import { ResourceFinder } from './resource.finder.ts';
import { resourceMethods, subscriptionMethods } from './resources.ts';
import { codes, type Members, RpcFailure } from './rpc.ts';
import { type SessionLimits, Sessions } from './sessions.ts';
import { toolMethods } from './tools.ts';
import { Upstreams } from './upstreams.ts';
import { Watches } from './watches.ts';

/** A sign of life on every open stream this often, in ms. */
const HEARTBEAT_MS = 15_000;
/** A modern client that was asked for input has this long to come back with it, in ms. */
const PARKED_MS = 600_000;
const MOST_PARKED = 1_000;
/** Whoever asks for a resource nobody is known to have waits this long for servers on their way, in ms. */
const NEWCOMER_MS = 1_500;
const FIRST_WAY: ReadonlySet<string> = new Set(['connecting', 'listing']);

export interface HubOptions {
  readonly version: string;
  readonly supervisor: Supervisor;
  readonly calls: CallDesk;
  readonly directory: Directory;
  readonly log: Pick<EventLog, 'committed$'>;
  /** What servers say of themselves, by name. */
  readonly instructions: () => Readonly<Record<string, string>>;
  /** Which servers a client may see; all of them unless given. */
  readonly view?: (client: string) => (server: string) => boolean;
  /** Whether held calls of a client are put to the person there; of none unless given. */
  readonly asksInClient?: (client: string) => boolean;
  /** How long a held call can be decided about, in ms. */
  readonly holdMs?: number;
  readonly sessions: SessionLimits;
  readonly heartbeatMs?: number;
  readonly now?: () => number;
}

export interface Hub {
  /** Answers one HTTP request whose caller the guard has let in. */
  handle(request: IncomingMessage, response: ServerResponse, server: string | undefined, caller: Caller): void;
  /** Ends every stream and session in good order. */
  close(): void;
  readonly sessions: { readonly size: number };
}

export function createHub(options: HubOptions): Hub {
  const { supervisor, calls, directory, log, version, now = Date.now, view = () => () => true } = options;
  const sees = (client: string, server: string): boolean => view(client)(server);
  const servers = (): readonly string[] =>
    supervisor.entries.flatMap(({ name, entry }) => (entry?.disabled ? [] : [name])).toSorted();
  const isReady = (server: string): boolean => supervisor.find(server)?.actor.committedHead.state === 'ready';

  const upstreams: Upstreams = new Upstreams({
    supervisor,
    log,
    onChanged: (server, kind) => {
      lists.changed();
      changes.listed(server, kind === 'prompts' ? 'prompts' : 'resources');
    },
    onNotification: (server, notification) => {
      const upstream = upstreams.of(server);
      const { method, params = {}, related } = notification;
      if (method === 'notifications/message') logging.spread(upstream, notification);
      else if (method === 'notifications/resources/updated') watches.updated(server, params.uri, params);
      else if (related !== null) upstream.flightOf(related)?.notify(method, params);
      else if (method === 'notifications/elicitation/complete')
        for (const session of sessions)
          if ((session.server === undefined || session.server === server) && sees(session.client, server))
            session.tell(method, params);
    },
    onJoined: (upstream) => {
      logging.apply(upstream);
      watches.joined(upstream.name);
    },
  });
  const heartbeat = new Heartbeat(options.heartbeatMs ?? HEARTBEAT_MS);
  const parking = new ParkingLot(PARKED_MS, MOST_PARKED);
  const lists = new Lists({ directory, upstreams, servers, isReady });
  const isNew = (server: string): boolean =>
    upstreams.of(server).capabilities === null &&
    FIRST_WAY.has(supervisor.find(server)?.actor.committedHead.state ?? 'stopped');
  const finder = new ResourceFinder(lists, () =>
    Promise.all(
      servers()
        .filter(isNew)
        .map((server) => supervisor.whenReady(server, AbortSignal.timeout(NEWCOMER_MS))),
    ),
  );
  const watches = new Watches(upstreams);
  const relay = new Relay({ supervisor, calls, upstreams, parking });
  const sessions = new Sessions(options.sessions, now, (session) => watches.removeAll(session));
  const logging = new Logging(sessions, relay, sees);
  const listens = new Listens({ finder, watches, changes: () => changes });
  const changes = new Changes(lists, function* () {
    for (const session of sessions) {
      const { server } = session;
      yield { server, changed: (list) => session.tell(`notifications/${list}/list_changed`) };
    }
    yield* listens;
  });
  const greeting = new Greeting({ version, upstreams, instructions: options.instructions });
  const quiet = directory.onChanged(() => {
    lists.changed();
    changes.toolsMayHave();
  });

  const unlisted = (name: string, server: string | undefined): string | undefined => {
    const known = lists.serversOf(server).filter((one) => !directory.known(one));
    if (server !== undefined) return known[0];
    return known.find((one) => name.startsWith(`${one}__`) || name.startsWith(`mcp__${one}__`));
  };
  const asking = { asksInClient: options.asksInClient ?? (() => false), holdMs: options.holdMs ?? 600_000 };
  const common: Readonly<Record<string, Method>> = {
    ...toolMethods({ directory, calls, lists, relay, unlisted, ...asking }),
    ...promptMethods({ lists, relay, finder }),
    ...resourceMethods({ lists, relay, finder, watches }),
  };
  const door = new Door({
    greeting,
    sessions,
    heartbeat,
    listens,
    changes,
    isServer: (server, client) => supervisor.entry(server) !== undefined && sees(client, server),
    view,
    modern: { ...common, 'server/discover': ({ server, sees: seen }) => greeting.discover(server, seen) },
    legacy: {
      ...common,
      ...subscriptionMethods({ lists, relay, finder, watches }),
      ping: () => ({}),
      'logging/setLevel': ({ params, session, server, sees: seen }): Members => {
        if (!isLogLevel(params.level))
          throw new RpcFailure(codes.invalidParams, 'Invalid params: "level" is not a log level.');
        if (session) session.logLevel = params.level;
        for (const name of lists.serversOf(server).filter(seen)) logging.apply(upstreams.of(name));
        return {};
      },
    },
  });

  return {
    handle: (request, response, server, caller) => door.handle(request, response, server, caller),
    close() {
      quiet();
      listens.close();
      parking.close();
      sessions.close();
      heartbeat.stop();
    },
    sessions,
  };
}
