/** Every server of the hub, joined to its connection as soon as there is one. */

import type { Supervisor } from '../actors/supervisor.ts';
import { serverOf } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import type { ListKind, ServerNotification } from '../mcp/connection.ts';
import { Upstream } from './upstream.ts';

export interface UpstreamsOptions {
  readonly supervisor: Pick<Supervisor, 'find'>;
  readonly log: Pick<EventLog, 'committed$'>;
  readonly onChanged: (server: string, kind: ListKind) => void;
  readonly onNotification: (server: string, notification: ServerNotification) => void;
  /** A connection is there; what clients want of the server has to be said again. */
  readonly onJoined: (upstream: Upstream) => void;
}

export class Upstreams {
  readonly #options: UpstreamsOptions;
  readonly #all = new Map<string, Upstream>();

  constructor(options: UpstreamsOptions) {
    this.#options = options;
    options.log.committed$.subscribe((facts) => {
      for (const { type, stream, data } of facts) {
        if (type === 'Connected' && 'connection' in data) this.#joined(serverOf(stream), Number(data.connection));
        else if (type === 'ServerRemoved') this.#forget(serverOf(stream));
        else if (ENDS.has(type)) this.#all.get(serverOf(stream))?.part();
      }
    });
  }

  /** Made when first asked for: a server need not have connected to be known. */
  of(name: string): Upstream {
    const known = this.#all.get(name);
    if (known) return known;
    const { supervisor, onChanged, onNotification } = this.#options;
    const upstream = new Upstream({
      name,
      listTimeoutMs: () => supervisor.find(name)?.actor.head.context.limits.listTimeoutMs ?? 30_000,
      onChanged: (kind) => onChanged(name, kind),
      onNotification: (notification) => onNotification(name, notification),
    });
    this.#all.set(name, upstream);
    return upstream;
  }

  #joined(name: string, number: number): void {
    const connection = this.#options.supervisor.find(name)?.connection(number);
    if (!connection) return;
    const upstream = this.of(name);
    upstream.join(connection);
    this.#options.onJoined(upstream);
  }

  #forget(name: string): void {
    this.#all.get(name)?.part();
    this.#all.delete(name);
  }
}

const ENDS: ReadonlySet<string> = new Set(['StopRequested', 'SessionLost', 'ServerStopped']);
