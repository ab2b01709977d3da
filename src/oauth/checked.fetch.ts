/** The only way out of a login: every address is checked, as a name and as what the name leads to, before a byte is sent. */
import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup as lookUp } from 'node:dns/promises';
import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { classify } from '../mcp/failure.ts';
import { type AddressRules, checkUrl, forbiddenAddress, isLoopback, isOwn } from './addresses.ts';
import { bareOf } from './metadata.ts';
import { LoginError, ServerTrouble } from './trouble.ts';

const ANSWER_MS = 30_000;
const ANSWER_BYTES = 1_048_576;

type Lookup = NonNullable<RequestOptions['lookup']>;
/** All addresses a name leads to. */
type Resolve = (hostname: string, options: LookupOptions & { readonly all: true }) => Promise<LookupAddress[]>;

/** As the SDK wants it. Redirects come back as they are. */
export type CheckedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Rejects with a LoginError for an address that may not be used, and with a ServerTrouble when no whole answer comes within
 * `answerMs`.
 */
export function checkedFetch(rules: AddressRules, signal?: AbortSignal, answerMs = ANSWER_MS): CheckedFetch {
  return async (url, init = {}) => {
    const checked = checkUrl(String(url), rules);
    if (!checked.ok) throw new LoginError(`${bareOf(String(url))} ${checked.reason}; it is not asked.`);
    const limit = AbortSignal.timeout(answerMs);
    const ended = AbortSignal.any([limit, ...(signal ? [signal] : []), ...(init.signal ? [init.signal] : [])]);
    const target = bareOf(checked.url.href);
    try {
      const lookup = lookupWithin(rules, isLoopback(checked.url.hostname));
      return await exchange(checked.url, init, lookup, ended);
    } catch (error) {
      if (error instanceof LoginError) throw error;
      signal?.throwIfAborted();
      throw trouble(target, limit.aborted ? 'ETIMEDOUT' : codeOf(error));
    }
  };
}

/** The whole answer, headers and body, as one that may be read more than once. */
async function exchange(url: URL, init: RequestInit, lookup: Lookup, signal: AbortSignal): Promise<Response> {
  const body = init.body === undefined || init.body === null ? null : Buffer.from(String(init.body), 'utf8');
  const headers = Object.fromEntries(new Headers(init.headers).entries());
  const answer = await send(
    url,
    {
      method: init.method ?? 'GET',
      headers: {
        ...headers,
        'accept-encoding': 'identity',
        ...(body === null ? {} : { 'content-length': body.length }),
      },
      agent: false,
      signal,
      lookup,
    },
    body,
  );
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > ANSWER_BYTES) throw new LoginError(`${bareOf(url.href)} answered with more than 1 MiB.`);
    chunks.push(chunk);
  }
  const status = answer.statusCode ?? 0;
  const bodiless = status === 204 || status === 205 || status === 304;
  const shown = Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, [value].flat().join(', ')]],
  );
  return new Response(bodiless ? null : Buffer.concat(chunks), { status, headers: shown });
}

function send(url: URL, options: RequestOptions, body: Buffer | null): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options, resolve);
    request.on('error', reject);
    request.end(body ?? undefined);
  });
}

/**
 * A name leads where it leads at this moment: what it leads to is checked, and that very address is used. `loopback`: the
 * name says that it is this machine, and what is sent there may be in clear.
 */
export function lookupWithin(rules: AddressRules, loopback: boolean, resolve: Resolve = lookUp as Resolve): Lookup {
  const all = (hostname: string, options: LookupOptions) => resolve(hostname, { ...options, all: true });
  return (hostname, options, done) => {
    const within = async () => {
      const found = await all(hostname, options);
      const out = found.filter(({ address }) => forbiddenAddress(address) === null);
      if (loopback) return out.filter(({ address }) => isLoopback(address));
      if (rules.local) return out;
      const elsewhere = out.filter(({ address }) => !isLoopback(address) && !isOwn(address, rules.ownAddresses));
      if (elsewhere.length > 0) return elsewhere;
      // Somebody who has both at home, behind names: then the server itself is at that address.
      const server = await all(rules.server, options).catch(() => []);
      const its = server.map(({ address }) => address).filter((address) => !isLoopback(address));
      return out.filter(({ address }) => its.includes(address));
    };
    within().then(
      (allowed) => {
        const [first] = allowed;
        if (first === undefined) {
          const where = loopback
            ? 'does not lead to this machine, as it says'
            : 'leads to an address of this machine or of its link';
          done(new LoginError(`${hostname} ${where}; it is not asked.`), '', 0);
        } else if (options.all) done(null, allowed);
        else done(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => done(error, '', 0),
    );
  };
}

const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'UNKNOWN';
};

/** Something between us and the authorization server. */
export function trouble(target: string, code: string): ServerTrouble {
  const observation = { seen: 'network', code, target } as const;
  return new ServerTrouble(classify('connect', observation).message.replace(/^connect: /, ''), observation);
}

/** An answer that says nothing about the login itself: 429, 5xx. */
export function statusTrouble(target: string, status: number): ServerTrouble {
  const observation = {
    seen: 'status',
    status,
    target,
    challenge: null,
    retryAfterMs: null,
    location: null,
    text: '',
  } as const;
  return new ServerTrouble(`${target} answered HTTP ${status}`, observation);
}
