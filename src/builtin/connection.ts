/** A connection without a wire: the port every other server is spoken to through, answered inside the daemon. */
import type { ToolDefinition } from '../events/shapes.ts';
import {
  type Agreement,
  CallError,
  type CallOptions,
  type Connection,
  type RawResult,
  type RelayAnswer,
} from '../mcp/connection.ts';

export interface BuiltinTool {
  readonly definition: ToolDefinition;
  /** `client`: whose call it is, as the ledger names the client. Resolves with the result; what it throws is a mistake of ours. */
  readonly run: (args: Readonly<Record<string, unknown>>, client: string) => Promise<RawResult>;
}

export interface BuiltinOptions {
  readonly name: string;
  readonly version: string;
  readonly instructions: string;
  readonly tools: readonly BuiltinTool[];
}

const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

/** Open at once, and never lost by itself: it is as long as it is not closed. */
export function builtinConnection({ name, version, instructions, tools }: BuiltinOptions): Connection {
  const byName = new Map(tools.map((tool) => [String(tool.definition.name), tool]));
  const closed = new AbortController();
  const agreement: Agreement = {
    transport: 'builtin',
    era: 'modern',
    eraFrom: 'declared',
    protocolVersion: '2026-07-28',
    serverInfo: { name, version },
    capabilities: { tools: {} },
    instructions,
    session: false,
  };
  return {
    agreement,
    lost: new Promise(() => {}),
    listTools: async () => ({ tools: tools.map(({ definition }) => definition), warnings: [] }),
    listAll: async () => ({ items: [], warnings: [] }),
    async callTool(tool, args, options) {
      if (closed.signal.aborted)
        throw new CallError('not-sent', 'The built-in server is being closed; nothing was asked.', { sent: false });
      const found = byName.get(tool);
      if (!found) throw new CallError('rejected', `Unknown tool: ${tool}`, { sent: true, code: INVALID_PARAMS });
      return within(options, closed.signal, () => found.run(args, options.client ?? ''));
    },
    request: async (method): Promise<RelayAnswer> => ({
      kind: 'error',
      error: { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` },
    }),
    notify: () => {},
    watchResources: async (uris) => ({ watched: [], refused: uris.map((uri) => ({ uri, error: null })) }),
    onNotification: () => () => {},
    onServerRequest: () => {},
    onToolsChanged: () => () => {},
    onPush: () => () => {},
    close: async () => closed.abort(),
  };
}

/** The answer, or the `CallError` of whichever limit came first. Reading goes on behind it and does no harm. */
function within(
  { signal, idleMs, maxMs }: CallOptions,
  closed: AbortSignal,
  run: () => Promise<RawResult>,
): Promise<RawResult> {
  const limit =
    idleMs <= maxMs ? ({ of: 'callTimeoutMs', ms: idleMs } as const) : ({ of: 'callMaxMs', ms: maxMs } as const);
  return new Promise((resolve, reject) => {
    const cancelled = (): void => end(new CallError('cancelled', String(signal.reason), { sent: true }));
    const lost = (): void => end(new CallError('lost', 'The built-in server was closed.', { sent: true }));
    const late = (): void =>
      end(new CallError('timeout', `no answer within ${limit.ms} ms (${limit.of})`, { sent: true, limit: limit.of }));
    const timer = setTimeout(late, limit.ms).unref();
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancelled);
      closed.removeEventListener('abort', lost);
    };
    const end = (error: CallError): void => {
      over();
      reject(error);
    };
    signal.addEventListener('abort', cancelled, { once: true });
    closed.addEventListener('abort', lost, { once: true });
    if (signal.aborted) return cancelled();
    run().then(
      (result) => {
        over();
        resolve(result);
      },
      (error: unknown) =>
        end(new CallError('rejected', `The daemon made a mistake: ${String(error)}`, { sent: true, code: -32603 })),
    );
  });
}
