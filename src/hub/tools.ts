/** `tools/list` and `tools/call`. Every call goes through the desk, and so through the gate. */
import type { CallDesk, CallEnd } from '../actors/call/call.actor.ts';
import { isRefusal } from '../actors/refusal.ts';
import type { Directory, ListedTool } from '../keeper/directory.ts';
import { isObject } from '../mcp/message.ts';
import { mayBeRepeated } from '../mcp/tools.ts';
import { askInClient } from './approval.ts';
import type { Asked, Method } from './asked.ts';
import { pageOf } from './cursor.ts';
import { Flight } from './flight.ts';
import type { Lists } from './lists.ts';
import { paramHeaderProblem } from './param.headers.ts';
import { canBeAsked } from './peer.ts';
import { endedText, heldText, waitingText } from './refusal.text.ts';
import type { Relay } from './relay.ts';
import { codes, type Members, metaOf, RpcFailure, textIn } from './rpc.ts';
import { runsOnlyAsTask } from './tasks.ts';

/** Clients that never ask for a second page are many. */
export const PAGE = 1_000;
/** How often a caller is told that its call still waits for a person, in ms. */
const WAITING_MS = 5_000;

export const CALL = 'watchkeeper/call';
export const OUTCOME = 'watchkeeper/outcome';

export interface ToolsOptions {
  readonly directory: Directory;
  readonly calls: CallDesk;
  readonly lists: Lists;
  readonly relay: Relay;
  /** The name of a server by what a tool's name begins with, if its tools are not known yet. */
  readonly unlisted: (name: string, server: string | undefined) => string | undefined;
  readonly asksInClient: (client: string) => boolean;
  readonly holdMs: number;
}

export function toolMethods(options: ToolsOptions): Readonly<Record<string, Method>> {
  const { lists } = options;
  return {
    'tools/list': ({ server, sees, params }) => {
      const { shown, cache } = lists.tools(server);
      const seen = shown.filter((one) => sees(one.server));
      const { entries, nextCursor } = pageOf(seen, ({ key }) => key, params.cursor, PAGE);
      return { tools: entries.map(({ entry }) => entry), ...(nextCursor ? { nextCursor } : {}), ...cache };
    },
    'tools/call': (asked) => callTool(options, asked),
  };
}

async function callTool(options: ToolsOptions, asked: Asked): Promise<Members> {
  const { relay } = options;
  const resumed = relay.resumed(asked);
  if (resumed !== null) return relay.turn(asked, resumed);

  const args = asked.params.arguments ?? {};
  if (!isObject(args)) throw new RpcFailure(codes.invalidParams, 'Invalid params: "arguments" must be an object.');
  const listed = await find(options, asked);
  checkHeaders(asked, listed, args);
  checkTask(listed, relay);
  const flight = new Flight(listed.server);
  const answer = relay.turn(asked, flight);
  flight.begin(() => relay.during(flight, () => run(options, asked, listed, args, flight)));
  return answer;
}

/** The tools of a server are not known before its first list; one that is on its way is given a little time. */
async function find({ directory, calls, unlisted }: ToolsOptions, asked: Asked): Promise<ListedTool> {
  const name = textIn(asked.params, 'name');
  const known = directory.findOn(name, asked.server);
  if (known && asked.sees(known.server)) return known;
  const server = known ? undefined : unlisted(name, asked.server);
  if (server !== undefined && asked.sees(server)) {
    await calls.serverReady(server, asked.peer.signal);
    const listed = directory.findOn(name, asked.server);
    if (listed) return listed;
  }
  throw new RpcFailure(codes.invalidParams, `Unknown tool: ${name.slice(0, 200)}`);
}

function checkHeaders({ header }: Asked, { tool }: ListedTool, args: Members): void {
  if (header === null) return;
  const problem = paramHeaderProblem(tool.definition.inputSchema, args, header);
  if (problem !== null) throw new RpcFailure(codes.headerMismatch, problem);
}

/** Said before a person is asked whether the call may run: it cannot. */
function checkTask({ server, name, tool }: ListedTool, relay: Relay): void {
  if (runsOnlyAsTask(tool.definition, relay.declaredBy(server)))
    throw new RpcFailure(codes.methodNotFound, `${name} runs only as a task, and Watchkeeper does not carry tasks.`);
}

async function run(
  { calls, relay, lists, asksInClient, holdMs }: ToolsOptions,
  asked: Asked,
  { name, server, tool }: ListedTool,
  args: Members,
  flight: Flight,
): Promise<Members> {
  const waiting = new Waiting(flight);
  const asksHere = asksInClient(asked.client) && canBeAsked(asked.peer, 'elicitation/create');
  const asking = asksHere ? new AbortController() : null;
  try {
    const end = await calls.call({
      target: {
        server,
        tool: tool.name,
        name,
        definition: tool.hash,
        hasOutputSchema: tool.definition.outputSchema !== undefined,
        idempotent: mayBeRepeated(tool.annotations),
      },
      args,
      mode: asked.mode,
      client: asked.client,
      door: 'mcp',
      timeoutMs: undefined,
      wait: true,
      signal: flight.signal,
      cancelsAll: true,
      onProgress: (report) => flight.progress(report),
      // A modern client is away with the question; its answer must find the call still waiting.
      windowMs: asksHere && asked.peer.ask === null ? holdMs : undefined,
      onHeld: (held) => {
        waiting.begin(waitingText(held));
        if (asking) void askInClient({ calls, flight, client: asked.client, args, held }, asking.signal);
      },
      send: (connection, options) => {
        waiting.end();
        asking?.abort(new Error('The call was decided about elsewhere.'));
        return relay.sendCall(asked, flight, { connection, tool: tool.name, args }, options);
      },
    });
    if (isRefusal(end)) return told(end.detail, null, 'failed');
    return outwardUris(answerOf(end, flight, { name, server }), server, asked, lists);
  } finally {
    waiting.end();
    asking?.abort(new Error('The call is over.'));
  }
}

function answerOf(end: CallEnd, { rejection }: Flight, tool: { name: string; server: string }): Members {
  switch (end.kind) {
    case 'held':
      return told(heldText(end), end.id, 'held');
    case 'ended':
      return told(endedText(end, tool), end.id, end.outcome);
    case 'result':
      // What the server said as an error of the protocol stays one: clients act on its code.
      if (rejection !== null && end.outcome === 'tool-error') throw rejection;
      return marked(end.result, end.id, end.outcome);
  }
}

/** A result with its call and outcome. Set one by one and not in a literal: every answer passes here (ADR 27). */
function marked(result: Members, call: string, outcome: string): Members {
  const meta: Record<string, unknown> = { ...metaOf(result) };
  meta[CALL] = call;
  meta[OUTCOME] = outcome;
  const answer: Record<string, unknown> = result.content === undefined ? { content: [], ...result } : { ...result };
  answer._meta = meta;
  return answer;
}

const told = (text: string, call: string | null, outcome: string): Members => ({
  content: [{ type: 'text', text }],
  isError: true,
  _meta: { ...(call ? { [CALL]: call } : {}), [OUTCOME]: outcome },
});

/** Links to resources that several servers have lead to this one. */
function outwardUris(result: Members, server: string, asked: Asked, lists: Lists): Members {
  if (asked.server !== undefined || lists.shared.size === 0 || !Array.isArray(result.content)) return result;
  const outward = (holder: Members): Members =>
    typeof holder.uri === 'string' ? { ...holder, uri: lists.outward(server, holder.uri, undefined) } : holder;
  const content = result.content.map((block: unknown) => {
    if (!isObject(block)) return block;
    if (block.type === 'resource_link') return outward(block);
    return block.type === 'resource' && isObject(block.resource)
      ? { ...block, resource: outward(block.resource) }
      : block;
  });
  return { ...result, content };
}

/** Tells a caller again and again that its call waits for a person, so that it does not lose patience. */
class Waiting {
  readonly #flight: Flight;
  #timer: NodeJS.Timeout | null = null;
  #told = 0;

  constructor(flight: Flight) {
    this.#flight = flight;
  }

  begin(message: string): void {
    const tell = (): void => {
      this.#flight.progress({ progress: this.#told * 1e-6, message });
      this.#told += 1;
    };
    this.end();
    tell();
    this.#timer = setInterval(tell, WAITING_MS).unref();
  }

  end(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }
}
