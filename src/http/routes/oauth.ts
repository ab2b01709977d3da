import {
  adoptBody,
  adoptedLogin,
  callbackBody,
  clientBody,
  clientGiven,
  loginFrame,
  logoutBody,
} from '../contract.oauth.ts';
import { done } from '../contract.ts';
import type { Keeper } from '../keeper.ts';
import { Problem } from '../problem.ts';
import { loginQuery, logoutQuery } from '../query.ts';
import { type EventStream, openEventStream, type StreamLimits } from '../sse.ts';
import { type App, answers, refusals, serverOf } from './route.ts';

export function oauthRoutes(app: App, keeper: Keeper, limits: StreamLimits): void {
  const open = new Set<EventStream>();
  app.addHook('preClose', async () => {
    for (const stream of open) stream.end();
  });

  app.get(
    '/v1/mcp/oauth',
    {
      // Asking for the headers alone must not begin a login.
      exposeHeadRoute: false,
      schema: {
        tags: ['Logins'],
        summary: 'Log in to a server',
        description:
          'An event stream: a frame `{url}` with the address a person has to open, then `{done: true, ok, error?, ' +
          'reconnect_error?}`; comments keep it alive. Hanging up ends the login, unless somebody else waits for it too.',
        querystring: loginQuery,
        response: {
          200: { description: 'Frames without a name', content: { 'text/event-stream': { schema: loginFrame } } },
          ...refusals('invalid-request', 'unknown-server', 'oauth-not-enabled'),
        },
      },
    },
    async (request, reply) => {
      const login = keeper.login(named(serverOf(request.query)));
      reply.hijack();
      const stream = openEventStream(reply.raw, limits);
      open.add(stream);
      stream.onClose(() => {
        open.delete(stream);
        login.leave();
      });
      void login.url.then((url) => stream.send({ data: { url } }));
      stream.send({ data: { done: true, ...(await login.done) } });
      stream.end();
    },
  );

  app.post(
    '/v1/mcp/oauth/callback',
    {
      schema: {
        tags: ['Logins'],
        summary: 'Hand over the address the browser was sent to',
        description:
          'For a browser that cannot reach the daemon. `state` and `iss` are checked as if it had come there.',
        body: callbackBody,
        response: answers(done, 'invalid-request', 'unknown-server', 'no-login-waiting'),
      },
    },
    async (request) => {
      keeper.pasteCallback(request.body.name, request.body.url);
      return { ok: true };
    },
  );

  app.post(
    '/v1/mcp/oauth/client',
    {
      schema: {
        tags: ['Logins'],
        summary: 'Give a client that was registered by hand',
        description: 'Begins anew: tokens of another client are deleted. Does not log in.',
        body: clientBody,
        response: answers(
          clientGiven,
          'invalid-request',
          'unknown-server',
          'oauth-not-enabled',
          'credentials-unavailable',
        ),
      },
    },
    async (request) => {
      const { name, client_id: id, client_secret: secret = null, redirect_uri: redirectUri } = request.body;
      return { ok: true, redirect_uri: await keeper.giveClient(name, { id, secret, redirectUri }) };
    },
  );

  app.post(
    '/v1/mcp/oauth/adopt',
    {
      schema: {
        tags: ['Logins'],
        summary: 'Take over a login that Agenvoy has',
        description: 'Out of its keychain entries or its file `.secrets`, which stay as they are. Connects afterwards.',
        body: adoptBody,
        response: answers(
          adoptedLogin,
          'invalid-request',
          'unknown-server',
          'oauth-not-enabled',
          'credentials-unavailable',
        ),
      },
    },
    async (request) => keeper.adoptLogin(request.body.name),
  );

  app.delete(
    '/v1/mcp/oauth',
    {
      schema: {
        tags: ['Logins'],
        summary: 'Log out of a server',
        description:
          'Deletes token and registered client, tells the authorization server where it offers that, and takes the ' +
          'token away from the live session. A client that was given stays unless `client` is true.',
        querystring: logoutQuery,
        body: logoutBody,
        response: answers(done, 'invalid-request', 'unknown-server', 'credentials-unavailable'),
      },
    },
    async (request) => {
      const { query, body } = request;
      const given = [serverOf(query), serverOf(body ?? {})].filter((name) => name !== undefined);
      if (new Set(given).size > 1) throw new Problem('invalid-request', 'Query and body name different servers.');
      const name = named(given[0]);
      await keeper.logOut(name, body?.client ?? query.client ?? false);
      return { ok: true };
    },
  );
}

function named(name: string | undefined): string {
  if (name !== undefined) return name;
  throw new Problem('invalid-request', '`name` is missing: which server is it about?');
}
