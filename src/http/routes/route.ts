/** What the route files share. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { problem } from '../contract.ts';
import type { Caller } from '../keeper.ts';
import { Problem, type ProblemCode, problems } from '../problem.ts';

export type App = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>;

/** Headings of the documentation, in its order. */
export const tags = ['Daemon', 'Servers', 'Logins', 'Tools', 'Calls', 'Permission', 'Log', 'Documentation'] as const;

/** Every route can answer with these. */
const always = ['forbidden-host', 'forbidden-origin', 'internal'] as const;

interface Described {
  readonly description: string;
  readonly content: Readonly<Record<string, { readonly schema: z.ZodType }>>;
}

/** The answers of a route for its documentation: the good one, and the problems it can end in. */
export function answers(good: z.ZodType, ...codes: readonly ProblemCode[]): Record<number, Described> {
  return { ...answer(200, 'Done', good), ...refusals(...codes) };
}

/** One more good answer. */
export function answer(status: number, description: string, schema: z.ZodType): Record<number, Described> {
  return { [status]: { description, content: { 'application/json': { schema } } } };
}

/** The problems a route that needs the token can end in. */
export const refusals = (...codes: readonly ProblemCode[]): Record<number, Described> =>
  openRefusals('unauthorized', ...codes);

/** The problems a route that is open to all can end in, by status. */
export function openRefusals(...codes: readonly ProblemCode[]): Record<number, Described> {
  const all = [...new Set([...always, ...codes])];
  const statuses = [...new Set(all.map((code) => problems[code].status))].toSorted((one, other) => one - other);
  return Object.fromEntries(
    statuses.map((status) => {
      const description = all.filter((code) => problems[code].status === status).join(', ');
      return [status, { description, content: { 'application/problem+json': { schema: problem } } }];
    }),
  );
}

/** Who asks; only for routes that the guard lets nobody reach without a token. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = knownCaller(request);
  if (caller === null) throw new Problem('unauthorized', 'The request carries no token.');
  return caller;
}

/** Not an AI client: the daemon's own token, or the local socket. */
export const isOwn = (client: string): boolean => client === 'main' || client === 'socket';

/** null on a route that is open to all, for somebody without a token. */
export const knownCaller = (request: FastifyRequest): Caller | null => request.getDecorator<Caller | null>('caller');

/** `name` and `server` mean the same. */
export function serverOf(query: { name?: string | undefined; server?: string | undefined }): string | undefined {
  if (query.name !== undefined && query.server !== undefined && query.name !== query.server)
    throw new Problem('invalid-request', '`name` and `server` mean the same; send one of them.');
  return query.name ?? query.server;
}
