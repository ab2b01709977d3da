/** The HTTP side as one Fastify instance: the guard in front, the routes, and one way to say what went wrong. */
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { allowHosts } from './authority.ts';
import { asProblem } from './failure.ts';
import { admit, type KnownClients, type Policy } from './guard.ts';
import { safeHeaders } from './headers.ts';
import { readJson } from './json.body.ts';
import type { Keeper } from './keeper.ts';
import { type DescribeApi, describedOnce } from './openapi.ts';
import { Problem } from './problem.ts';
import { routeBook } from './route.book.ts';
import { adminRoutes } from './routes/admin.ts';
import { allowlistRoutes } from './routes/allowlist.ts';
import { bundleRoutes } from './routes/bundle.ts';
import { callRoutes } from './routes/calls.ts';
import { clientRoutes } from './routes/clients.ts';
import { docsRoutes } from './routes/docs.ts';
import { doctorRoutes } from './routes/doctor.ts';
import { eventRoutes } from './routes/events.ts';
import { healthRoutes } from './routes/health.ts';
import { historyRoutes } from './routes/history.ts';
import { ledgerRoutes } from './routes/ledger.ts';
import { type Mcp, mcpRoutes } from './routes/mcp.ts';
import { oauthRoutes } from './routes/oauth.ts';
import { recordingRoutes } from './routes/recordings.ts';
import { replayRoutes } from './routes/replay.ts';
import type { App } from './routes/route.ts';
import { serverRoutes } from './routes/servers.ts';
import { stderrRoutes } from './routes/stderr.ts';
import { summaryRoutes } from './routes/summary.ts';
import { toolRoutes } from './routes/tools.ts';
import { whyRoutes } from './routes/why.ts';
import { schemaController } from './schema.controller.ts';
import { lookAt } from './seen.ts';
import { shortcutTo } from './shortcut.ts';
import { type StreamLimits, usualLimits } from './sse.ts';

/** 4 MiB. */
const bodyLimit = 4 * 1024 * 1024;

export interface AppOptions {
  readonly keeper: Keeper;
  /** The token as it is now; an empty one lets nobody in. */
  readonly token: () => string;
  /** AI clients with tokens of their own; without it there are none. */
  readonly clients?: KnownClients;
  /** The TCP port the daemon listens on. */
  readonly port: () => number;
  /** Setting `http.allowedHosts`: further names, with or without a port. */
  readonly allowedHosts: readonly string[];
  /** Hears of mistakes of our own, which callers are told nothing about. */
  readonly log: { error(what: object, message: string): void };
  readonly streamLimits?: StreamLimits;
  /** The MCP endpoint; without one there are no such routes. */
  readonly mcp?: Mcp;
}

/** Everything but the listening. The instance is ready: `inject` it, or hand it to `serve`. */
export async function buildApp(options: AppOptions): Promise<App> {
  const { keeper, log } = options;
  const policy: Policy = {
    hosts: allowHosts(options.port, options.allowedHosts),
    token: options.token,
    clients: options.clients ?? noClients,
  };
  const book = routeBook();

  const answerProblem = (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const problem = asProblem(error);
    if (problem.status >= 500 && !(error instanceof Problem))
      log.error({ err: error, method: request.method, route: request.routeOptions.url }, 'A request failed.');
    if (problem.type === 'unauthorized') reply.header('www-authenticate', 'Bearer realm="watchkeeper"');
    reply.code(problem.status).type('application/problem+json').serializer(JSON.stringify).send(problem.body());
  };

  const app: App = fastify({
    bodyLimit,
    schemaController,
    // A target that cannot be decoded meets no hook, so the guard is asked here.
    frameworkErrors: (_error, request, reply) => {
      reply.headers(safeHeaders);
      try {
        admit(lookAt(request.raw), policy);
        answerProblem(noRoute(request), request, reply);
      } catch (problem) {
        answerProblem(problem, request, reply);
      }
    },
  }).withTypeProvider<ZodTypeProvider>();

  app.decorateRequest('caller', null);
  app.decorate('shortcut', shortcutTo(options.mcp, policy));
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(safeHeaders);
    request.setDecorator('caller', admit(lookAt(request.raw), policy));
  });

  // The plain parser: it keeps every key, and an empty body is no body.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, async (_request: FastifyRequest, body: string) =>
    readJson(body),
  );
  app.setValidatorCompiler(validatorCompiler);
  // Answers are typed by the contract and checked against it in tests, not once more on every request.
  app.setSerializerCompiler(() => JSON.stringify);
  app.setErrorHandler(answerProblem);
  app.setNotFoundHandler((request, reply) => {
    const allowed = book.methodsOf(request.url);
    if (allowed.length === 0) throw noRoute(request);
    reply.header('allow', allowed.join(', '));
    throw new Problem('method-not-allowed', `${request.method} is not among the methods of this route.`);
  });
  app.addHook('onRoute', ({ method, url }) => book.add(method, url));

  const described = describedOnce(keeper.version, (other) => routes(other, options, null));
  routes(app, options, described);
  await app.ready();
  return app;
}

/** Every route there is. `described` is what the documentation shows; null while that itself is being made. */
function routes(app: App, options: AppOptions, described: DescribeApi | null): void {
  const { keeper, log } = options;
  healthRoutes(app, keeper);
  serverRoutes(app, keeper);
  oauthRoutes(app, keeper, options.streamLimits ?? usualLimits);
  toolRoutes(app, keeper);
  callRoutes(app, keeper);
  allowlistRoutes(app, keeper);
  ledgerRoutes(app, keeper);
  clientRoutes(app, keeper);
  historyRoutes(app, keeper);
  whyRoutes(app, keeper);
  stderrRoutes(app, keeper);
  bundleRoutes(app, keeper);
  recordingRoutes(app, keeper);
  summaryRoutes(app, keeper);
  doctorRoutes(app, keeper);
  replayRoutes(app, keeper);
  eventRoutes(app, keeper, options.streamLimits ?? usualLimits, (error) => {
    log.error({ err: error }, 'A stream of events had to be ended.');
  });
  adminRoutes(app, keeper);
  if (options.mcp) mcpRoutes(app, options.mcp);
  docsRoutes(app, options.port, described ?? notDescribed);
}

const noClients: KnownClients = { byToken: () => null, byName: () => null };

const notDescribed: DescribeApi = () => {
  throw new Error('The description is made from routes that answer nothing.');
};

const noRoute = ({ method, url }: FastifyRequest): Problem =>
  new Problem('not-found', `There is no route ${method} ${url.split('?', 1)[0]?.slice(0, 200)}.`);
