/** HTTP in front of the hub: reads a request, finds its era and session, and sees to its answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isTooDeep, MAX_DEPTH } from '../canonical.ts';
import type { PermissionMode } from '../events/call.events.ts';
import { isLocal } from '../http/door.ts';
import { asProblem } from '../http/failure.ts';
import type { Caller } from '../http/keeper.ts';
import { chooseMode } from '../http/mode.ts';
import { Problem } from '../http/problem.ts';
import { Cancel, NotWanted } from '../mcp/cancel.ts';
import { isObject, type Message } from '../mcp/message.ts';
import type { Asked, Method } from './asked.ts';
import { readBody } from './body.ts';
import type { Changes } from './changes.ts';
import { type Classified, classify } from './era.ts';
import type { Greeting } from './greeting.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Listens } from './listens.ts';
import { isLogLevel, type LogLevel } from './log.levels.ts';
import type { Peer } from './peer.ts';
import { acceptsOf, Reply, sendJson, sendNothing } from './reply.ts';
import { keys, LEGACY, UNSAID } from './revisions.ts';
import {
  answerWith,
  codes,
  errorBody,
  failWith,
  isNotification,
  isRequest,
  type Members,
  metaOf,
  type RequestId,
  RpcFailure,
} from './rpc.ts';
import { capabilitiesIn, type Session } from './session.ts';
import type { Sessions } from './sessions.ts';
import { Stream } from './stream.ts';

type RequestMessage = Message & { readonly id: RequestId; readonly method: string };

export interface DoorOptions {
  readonly greeting: Greeting;
  readonly sessions: Sessions;
  readonly heartbeat: Heartbeat;
  readonly listens: Listens;
  readonly changes: Changes;
  /** Whether there is a server of this name for this client. */
  readonly isServer: (name: string, client: string) => boolean;
  /** Looked at once for each request. */
  readonly view: (client: string) => (server: string) => boolean;
  readonly modern: Readonly<Record<string, Method>>;
  readonly legacy: Readonly<Record<string, Method>>;
}

/** One HTTP request and whose it is. */
interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly server: string | undefined;
  readonly client: string;
  readonly sees: (server: string) => boolean;
  readonly mode: PermissionMode;
}

export class Door {
  readonly #options: DoorOptions;

  constructor(options: DoorOptions) {
    this.#options = options;
  }

  handle(request: IncomingMessage, response: ServerResponse, server: string | undefined, caller: Caller): void {
    this.#handle(request, response, server, caller).catch((error: unknown) => {
      const problem = asProblem(error);
      if (response.headersSent) response.destroy();
      else sendJson(response, problem.status, problem.body(), {}, 'application/problem+json');
    });
  }

  async #handle(
    request: IncomingMessage,
    response: ServerResponse,
    server: string | undefined,
    caller: Caller,
  ): Promise<void> {
    if (server !== undefined && !this.#options.isServer(server, caller.client))
      throw new Problem('unknown-server', `There is no server "${server}".`);
    const mode = chooseMode({ header: headerOf(request, 'watchkeeper-permission-mode') }, caller);
    const { client } = caller;
    const sees = this.#options.view(client);
    const visit: Visit = { request, response, server, client, sees, mode };
    switch (request.method) {
      case 'POST':
        return this.#post(visit);
      case 'GET':
        return this.#get(visit);
      case 'DELETE':
        return this.#delete(visit);
      default:
        sendNothing(response, 405, { allow: 'DELETE, GET, POST' });
    }
  }

  async #post(visit: Visit): Promise<void> {
    const { request, response } = visit;
    const text = await readBody(request);
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return refuse(response, 400, codes.parseError, 'The body is not valid JSON.');
    }
    if (isTooDeep(body))
      return refuse(
        response,
        400,
        codes.invalidRequest,
        `The body is nested more than ${MAX_DEPTH} levels deep; send it flatter.`,
      );
    const accepts = acceptsOf(request.headers.accept);
    if (!accepts.json && !accepts.stream)
      return refuse(response, 406, codes.badSession, 'Accept must name application/json and text/event-stream.');
    const classified: Classified = classify(body, {
      version: headerOf(request, 'mcp-protocol-version')?.trim(),
      method: headerOf(request, 'mcp-method'),
      name: headerOf(request, 'mcp-name'),
    });
    switch (classified.kind) {
      case 'rejected':
        return sendJson(response, classified.status, failWith(classified.id, classified.error));
      case 'modern':
        return isRequest(classified.message) ? this.#modern(visit, classified.message) : sendNothing(response, 202);
      case 'legacy':
        return this.#legacy(visit, classified.messages, classified.batch);
    }
  }

  /** A session begins, or goes on. */
  #legacy(visit: Visit, messages: readonly Message[], batch: boolean): void {
    const { response } = visit;
    const [first] = messages;
    if (first?.method === 'initialize') {
      if (messages.length === 1 && isRequest(first)) this.#initialize(visit, first);
      else refuse(response, 400, codes.invalidRequest, 'initialize must be sent alone, as a request.');
      return;
    }
    const session = this.#sessionOf(visit);
    if (session === null) return;
    session.touch();
    const requests = messages.filter(isRequest);
    for (const message of messages) if (!isRequest(message)) this.#hear(session, message);
    if (requests.length === 0) {
      sendNothing(response, 202);
      return;
    }
    const reply = new Reply({
      response,
      accepts: acceptsOf(visit.request.headers.accept),
      heartbeat: this.#options.heartbeat,
      headers: session.headers,
      due: requests.length,
      batch,
      stream: () => session.newStream(),
      onStreamEnd: (stream) => session.streamEnded(stream),
      // A lost connection cancels nothing in this era.
      onLost: () => {},
    });
    // What goes wrong here must cost the client its answer and never the others their daemon.
    for (const request of requests)
      this.#inSession(visit, session, request, reply).catch(() => visit.response.destroy());
  }

  #initialize({ response, server, client, sees }: Visit, { id, params }: RequestMessage): void {
    const { greeting, sessions, heartbeat, changes } = this.#options;
    const result = greeting.initialize(params?.protocolVersion, server, sees);
    const session = sessions.open({
      server,
      client,
      revision: String(result.protocolVersion),
      capabilities: capabilitiesIn(params),
      heartbeat,
    });
    changes.watch(server);
    sendJson(response, 200, answerWith(id, result), session.headers);
  }

  async #inSession(visit: Visit, session: Session, message: RequestMessage, reply: Reply): Promise<void> {
    const { id, method, params = {} } = message;
    const cancel = new Cancel();
    const number = session.running.add({ id, cancel });
    const say = (said: Message, lossy = false): void => reply.say(said, lossy);
    const peer: Peer = {
      era: 'legacy',
      party: session,
      capabilities: reply.speaks ? session.capabilities : {},
      logLevel: session.logLevel,
      progressToken: progressTokenIn(params),
      signal: cancel.signal,
      notify: (name, more, lossy) => say({ jsonrpc: '2.0', method: name, params: more }, lossy),
      ask: (name, more, signal) => session.ask(say, name, more, signal),
    };
    const answer = await this.#answer(this.#options.legacy, askedOf(visit, { id, method, params, peer, session }));
    session.running.delete(number);
    session.touch();
    // A request that was cancelled gets no response.
    if (cancel.signal.aborted) reply.drop();
    else if ('error' in answer) reply.respond(failWith(id, answer.error.body));
    else reply.respond(answerWith(id, forLegacy(answer.result)));
  }

  async #modern(visit: Visit, { id, method, params = {} }: RequestMessage): Promise<void> {
    const { request, response } = visit;
    const { heartbeat, listens, modern, greeting } = this.#options;
    const meta = metaOf(params) ?? {};
    const declared = meta[keys.clientCapabilities];
    const cancel = new Cancel();
    // In this era that is how a client says it.
    const left = (): void => cancel.abort(new NotWanted('The client closed the stream.'));
    const stream = new Stream(0, { heartbeat, headers: {}, store: null, primed: false, onLost: left });
    const listening = method === 'subscriptions/listen';
    const reply = new Reply({
      response,
      accepts: acceptsOf(request.headers.accept),
      heartbeat,
      headers: {},
      due: 1,
      batch: false,
      stream: () => stream,
      onLost: left,
    });
    const peer: Peer = {
      era: 'modern',
      party: stream,
      capabilities: isObject(declared) ? declared : {},
      logLevel: logLevelIn(meta),
      progressToken: progressTokenIn(params),
      signal: cancel.signal,
      notify: (name, more, lossy) => reply.say({ jsonrpc: '2.0', method: name, params: more }, lossy),
      ask: null,
    };
    const asked = askedOf(visit, { id, method, params, peer, session: null });
    const methods = listening
      ? {
          [method]: () => {
            if (!reply.speaks)
              throw new RpcFailure(codes.invalidRequest, 'A subscription needs Accept: text/event-stream.');
            const say = (message: Message): void => reply.say(message);
            const { server, sees } = visit;
            return listens.listen({ id, params, server, sees, signal: cancel.signal, say });
          },
        }
      : modern;
    const answer = await this.#answer(methods, asked);
    if (cancel.signal.aborted) return;
    if ('error' in answer) reply.respond(failWith(id, answer.error.body), statusOf(answer.error, method in methods));
    else reply.respond(answerWith(id, forModern(answer.result, greeting.serverInfo)));
  }

  async #answer(
    methods: Readonly<Record<string, Method>>,
    asked: Asked,
  ): Promise<{ readonly result: Members } | { readonly error: RpcFailure }> {
    try {
      const method = Object.hasOwn(methods, asked.method) ? methods[asked.method] : undefined;
      if (method === undefined)
        throw new RpcFailure(codes.methodNotFound, `Method not found: ${asked.method.slice(0, 100)}`);
      return { result: await method(asked) };
    } catch (error) {
      if (error instanceof RpcFailure) return { error };
      const message = error instanceof Problem ? error.detail : 'The daemon made a mistake.';
      return { error: new RpcFailure(codes.internal, message) };
    }
  }

  /** A notification of the client, or its answer to something it was asked. */
  #hear(session: Session, message: Message): void {
    if (!isNotification(message)) session.answered(message);
    else if (message.method === 'notifications/cancelled') session.cancelled(message.params);
  }

  /** The stream on which a session is spoken to unasked, or the rest of one that broke. */
  #get(visit: Visit): void {
    const { request, response } = visit;
    if (!acceptsOf(request.headers.accept).stream) {
      refuse(response, 406, codes.badSession, 'Accept must name text/event-stream.');
      return;
    }
    const session = this.#sessionOf(visit);
    if (session === null) return;
    session.touch();
    response.once('close', () => session.touch());
    const lastEventId = headerOf(request, 'last-event-id');
    if (lastEventId === undefined || !session.resume(lastEventId, response)) session.listen(response);
  }

  #delete(visit: Visit): void {
    const session = this.#sessionOf(visit);
    if (session === null) return;
    this.#options.sessions.end(session, new NotWanted('The client ended the session.'));
    sendNothing(visit.response, 200);
  }

  /** The session a request names; answers for it when there is none. */
  #sessionOf({ request, response, client, server }: Visit): Session | null {
    const id = headerOf(request, 'mcp-session-id');
    if (id === undefined) {
      refuse(response, 400, codes.badSession, 'The header Mcp-Session-Id is missing; begin with initialize.');
      return null;
    }
    const session = this.#options.sessions.find(id, client, server);
    if (session === undefined) {
      refuse(response, 404, -32001, 'This session is not, or no longer, known; begin with initialize.');
      return null;
    }
    const version = headerOf(request, 'mcp-protocol-version')?.trim() ?? UNSAID;
    if (LEGACY.includes(version)) return session;
    refuse(
      response,
      400,
      codes.badSession,
      `MCP-Protocol-Version ${version.slice(0, 40)} is not supported: ${LEGACY.join(', ')}.`,
    );
    return null;
  }
}

/** What is asked, with what the HTTP request says of it. */
const askedOf = (
  { request, server, client, sees, mode }: Visit,
  { id, method, params, peer, session }: Pick<Asked, 'id' | 'method' | 'params' | 'peer' | 'session'>,
): Asked => ({
  id,
  method,
  params,
  server,
  peer,
  session,
  client,
  sees,
  mode,
  // The bridge on the local socket knows no schemas, so it cannot repeat arguments in headers.
  header: isLocal(request.socket) ? null : (name) => headerOf(request, name),
});

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function refuse(response: ServerResponse, status: number, code: number, message: string): void {
  sendJson(response, status, failWith(null, errorBody(code, message)));
}

/** Modern answers carry their kind and who gives them. */
function forModern(result: Members, serverInfo: Members): Members {
  return { resultType: 'complete', ...result, _meta: { ...metaOf(result), [keys.serverInfo]: serverInfo } };
}

/** What the older revisions do not know is left out. */
function forLegacy(result: Members): Members {
  if (!('resultType' in result || 'ttlMs' in result || 'cacheScope' in result)) return result;
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...rest } = result;
  return rest;
}

/** HTTP status of a modern error; those that answer a request the hub took are 200. */
function statusOf({ code }: RpcFailure, known: boolean): number {
  if (code === codes.methodNotFound && !known) return 404;
  return code === codes.missingCapability || code === codes.headerMismatch ? 400 : 200;
}

function progressTokenIn(params: Members): string | number | undefined {
  const token = metaOf(params)?.progressToken;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

function logLevelIn(meta: Members): LogLevel | null {
  const level = meta[keys.logLevel];
  return isLogLevel(level) ? level : null;
}
