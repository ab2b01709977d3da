/**
 * Which era one POST belongs to, decided by its body (2026-07-28, versioning and Streamable HTTP): a request that carries
 * the envelope in `_meta` is modern, everything else is legacy. Headers only confirm. Pure.
 */
import { type Id, isMessage, isObject, type Message } from '../mcp/message.ts';
import { decodeHeader } from './header.value.ts';
import { keys, MODERN } from './revisions.ts';
import { codes, errorBody, isRequest, metaOf, type RpcErrorBody } from './rpc.ts';

export interface StandardHeaders {
  readonly version: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
}

export interface Rejected {
  readonly kind: 'rejected';
  /** HTTP status. */
  readonly status: number;
  readonly id: Id;
  readonly error: RpcErrorBody;
}

export type Classified =
  | { readonly kind: 'legacy'; readonly messages: readonly Message[]; readonly batch: boolean }
  | { readonly kind: 'modern'; readonly message: Message & { readonly method: string } }
  | Rejected;

export function classify(body: unknown, headers: StandardHeaders): Classified {
  if (Array.isArray(body)) return classifyBatch(body);
  if (!isMessage(body)) return reject(null, codes.invalidRequest, 'The body is not a JSON-RPC message.');
  const { method } = body;
  if (method === undefined) return { kind: 'legacy', messages: [body], batch: false };
  if (body.id !== undefined && !isRequest(body))
    return reject(null, codes.invalidRequest, 'The id of a request must be a text or a number.');
  const message = body as Message & { method: string };
  const meta = metaOf(message.params);
  const claims = meta !== undefined && keys.protocolVersion in meta;
  const headerModern = headers.version === MODERN;
  const envelope = claims ? envelopeProblem(meta) : null;

  if (method === 'initialize' && (!claims || envelope !== null)) {
    return headerModern
      ? mismatch(message, 'initialize belongs to older revisions, but MCP-Protocol-Version names 2026-07-28.')
      : { kind: 'legacy', messages: [message], batch: false };
  }
  if (claims) {
    if (envelope !== null) return reject(message.id, codes.invalidParams, envelope);
    return classifyClaim(message, String(meta[keys.protocolVersion]), headers);
  }
  if (!headerModern) return { kind: 'legacy', messages: [message], batch: false };
  if (!isRequest(message)) return { kind: 'modern', message };
  return reject(
    message.id,
    codes.invalidParams,
    `MCP-Protocol-Version names ${MODERN}, but params._meta lacks "${keys.protocolVersion}".`,
  );
}

function classifyBatch(body: readonly unknown[]): Classified {
  if (body.length === 0 || !body.every(isMessage))
    return reject(null, codes.invalidRequest, 'The body is not a JSON-RPC message, nor a batch of them.');
  const modern = body.some(({ params }) => keys.protocolVersion in (metaOf(params) ?? {}));
  return modern
    ? reject(null, codes.invalidRequest, `Revision ${MODERN} knows no batches; send one request a POST.`)
    : { kind: 'legacy', messages: body, batch: true };
}

function classifyClaim(message: Message & { method: string }, version: string, headers: StandardHeaders): Classified {
  if (headers.version !== undefined && headers.version !== version)
    return mismatch(message, `_meta names revision ${version}, MCP-Protocol-Version ${headers.version}.`);
  if (version !== MODERN) {
    const data = { supported: [MODERN], requested: version };
    return reject(message.id, codes.unsupportedVersion, `Unsupported protocol version: ${version}`, data);
  }
  const problem = isRequest(message) ? headerProblem(message, headers) : null;
  return problem === null ? { kind: 'modern', message } : mismatch(message, problem);
}

/** What is wrong with the envelope, or null. `clientInfo` may be left out. */
function envelopeProblem(meta: Readonly<Record<string, unknown>>): string | null {
  if (typeof meta[keys.protocolVersion] !== 'string') return `_meta["${keys.protocolVersion}"] must be a text.`;
  if (!isObject(meta[keys.clientCapabilities])) return `_meta["${keys.clientCapabilities}"] must be an object.`;
  const info = meta[keys.clientInfo];
  return info === undefined || isObject(info) ? null : `_meta["${keys.clientInfo}"] must be an object.`;
}

/** The member of params that `Mcp-Name` repeats. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

function headerProblem({ method, params }: Message & { method: string }, headers: StandardHeaders): string | null {
  if (headers.version === undefined) return 'The header MCP-Protocol-Version is missing.';
  if (headers.method === undefined) return 'The header Mcp-Method is missing.';
  if (headers.method.trim() !== method) return `The body names method ${method}, Mcp-Method ${headers.method}.`;
  const member = NAMED[method];
  const value = member === undefined ? undefined : params?.[member];
  if (member === undefined || typeof value !== 'string') return null;
  if (headers.name === undefined) return `The header Mcp-Name is missing; it repeats params.${member}.`;
  const given = decodeHeader(headers.name.trim());
  if (given === null) return 'The header Mcp-Name is not valid base64.';
  return given === value ? null : `params.${member} is not what Mcp-Name says.`;
}

const mismatch = ({ id }: Message, message: string): Rejected => reject(id, codes.headerMismatch, message);

const reject = (id: Id | undefined, code: number, message: string, data?: unknown): Rejected => ({
  kind: 'rejected',
  status: 400,
  id: id ?? null,
  error: errorBody(code, message, data),
});
