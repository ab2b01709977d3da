/**
 * Where the browser comes back to. One listener a port for all logins, on both families of addresses, open only while a
 * login waits. A hit means something only by the `state` it carries.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Expected, Verdict } from './callback.verdict.ts';
import { judgeCallback } from './callback.verdict.ts';
import { type Ending, page, pageHeaders, statusOf } from './pages.ts';
import { LoginError } from './trouble.ts';

/** How long states of logins that are over are known, so that a page that is loaded again is not called a stray, in ms. */
const REMEMBERED_MS = 600_000;
const HEADERS_MS = 10_000;
/** `localhost` is one family to some browsers and the other to others; a machine may lack one of them. */
const FAMILIES = ['127.0.0.1', '::1'];

export interface Waiting extends Expected {
  /** Takes a hit that is meant for this login; resolves with how the login ended. */
  readonly take: (verdict: Exclude<Verdict, { kind: 'stray' }>, iss: string | undefined) => Promise<'done' | 'failed'>;
}

export interface Lease {
  /** From now on a hit with this state is taken, once. */
  expect(state: string, path: string, waiting: Waiting): void;
  close(): void;
}

interface Port {
  readonly servers: Promise<readonly Server[]>;
  /** Those that are being opened count: nobody may close what another is about to use. */
  leases: number;
}

interface Place {
  readonly port: number;
  readonly path: string;
  readonly waiting: Waiting;
}

export class CallbackListener {
  readonly #ports = new Map<number, Port>();
  readonly #waiting = new Map<string, Place>();
  readonly #over = new Map<string, number>();
  readonly #now: () => number;
  readonly #families: readonly string[];

  constructor(now: () => number = Date.now, families: readonly string[] = FAMILIES) {
    this.#now = now;
    this.#families = families;
  }

  /** Listens where the redirect address leads. Throws a LoginError that names the port and the setting when it is taken. */
  async open(redirectUri: string): Promise<Lease> {
    const port = Number(new URL(redirectUri).port);
    const place = this.#ports.get(port) ?? { servers: this.#listen(port), leases: 0 };
    this.#ports.set(port, place);
    place.leases += 1;
    try {
      await place.servers;
    } catch (error) {
      this.#release(port, place);
      throw error;
    }
    const states = new Set<string>();
    let open = true;
    return {
      expect: (state, path, waiting) => {
        states.add(state);
        this.#waiting.set(state, { port, path, waiting });
      },
      close: () => {
        if (!open) return;
        open = false;
        for (const state of states) if (this.#waiting.delete(state)) this.#remember(state);
        this.#release(port, place);
      },
    };
  }

  /**
   * A hit, wherever it came from: the listener, or a person who pasted the address. Whatever has been taken is taken: the
   * same state means nothing any more.
   */
  hit(query: URLSearchParams): { readonly verdict: Verdict; readonly ended: Promise<Ending> } {
    const verdict = judgeCallback(query, (state) => this.#waiting.get(state)?.waiting);
    if (verdict.kind === 'stray') {
      const state = query.get('state');
      const over = state !== null && (this.#over.get(state) ?? 0) > this.#now();
      return { verdict, ended: Promise.resolve(over ? 'over' : 'stray') };
    }
    const place = this.#waiting.get(verdict.state);
    this.#waiting.delete(verdict.state);
    this.#remember(verdict.state);
    return { verdict, ended: place?.waiting.take(verdict, query.get('iss') ?? undefined) ?? Promise.resolve('stray') };
  }

  /** Whether a state belongs to this place, and waits. */
  knows(state: string): boolean {
    return this.#waiting.has(state);
  }

  #release(port: number, place: Port): void {
    place.leases -= 1;
    if (place.leases > 0) return;
    if (this.#ports.get(port) === place) this.#ports.delete(port);
    // An answer that is on its way is not cut off.
    const close = (servers: readonly Server[]) => {
      for (const server of servers) server.close();
    };
    place.servers.then(close, () => {});
  }

  #remember(state: string): void {
    const now = this.#now();
    for (const [old, until] of this.#over) if (until <= now) this.#over.delete(old);
    this.#over.set(state, now + REMEMBERED_MS);
  }

  async #listen(port: number): Promise<readonly Server[]> {
    const servers: Server[] = [];
    const faults: string[] = [];
    for (const host of this.#families) {
      const server = createServer((request, response) => void this.#answer(port, request, response));
      server.headersTimeout = HEADERS_MS;
      server.requestTimeout = HEADERS_MS;
      const code = await listening(server, host, port);
      if (code === null) {
        // A login that nobody ends must not keep the process alive.
        server.unref();
        servers.push(server);
      } else if (code === 'EADDRINUSE' || code === 'EACCES') faults.push(code);
    }
    const [fault] = faults;
    if (fault === undefined && servers.length > 0) return servers;
    for (const server of servers) server.close();
    throw new LoginError(
      fault === 'EADDRINUSE'
        ? `Port ${port}, to which the browser comes back, is taken by another program. End that program, or choose another port with the setting oauth.callbackPort (a client you gave keeps its own redirect address).`
        : `Port ${port}, to which the browser comes back, cannot be used (${fault ?? 'no address of this machine'}). Choose another one with the setting oauth.callbackPort.`,
    );
  }

  async #answer(port: number, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.canParse(request.url ?? '', 'http://localhost')
      ? new URL(request.url ?? '', 'http://localhost')
      : null;
    const paths = new Set([...this.#waiting.values()].filter((place) => place.port === port).map(({ path }) => path));
    const state = url?.searchParams.get('state') ?? '';
    const known =
      url !== null &&
      (this.#waiting.get(state)?.path === url.pathname || this.#over.has(state) || paths.has(url.pathname));
    if (request.method !== 'GET' || url === null || !known || !isHere(request.headers.host, port)) {
      response.writeHead(404, pageHeaders).end();
      return;
    }
    const place = this.#waiting.get(state);
    const misplaced = place !== undefined && (place.port !== port || place.path !== url.pathname);
    const ending = misplaced ? 'stray' : await this.hit(url.searchParams).ended;
    response.writeHead(statusOf(ending), pageHeaders).end(page(ending));
  }
}

/** A page of another name that leads here (DNS rebinding) is nobody we know. */
const isHere = (host: string | undefined, port: number): boolean =>
  [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`].includes((host ?? '').toLowerCase());

/** null when it listens, else why not. */
function listening(server: Server, host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'UNKNOWN'));
    server.listen({ host, port, exclusive: true }, () => {
      server.on('error', () => {});
      resolve(null);
    });
  });
}
