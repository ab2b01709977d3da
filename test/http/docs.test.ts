import { describe, expect, it } from 'vitest';
import { tags } from '../../src/http/routes/route.ts';
import { givenApp, host } from './given.app.ts';

/** What the contract names, and what we added. */
const routes = [
  'GET /health',
  'GET /metrics',
  'GET /v1/mcp',
  'POST /v1/mcp',
  'POST /v1/mcp/remove',
  'POST /v1/mcp/enable',
  'POST /v1/mcp/disable',
  'POST /v1/mcp/test',
  'GET /v1/mcp/status',
  'POST /v1/mcp/reconnect',
  'GET /v1/mcp/record',
  'POST /v1/mcp/record',
  'POST /v1/mcp/fixture',
  'GET /v1/mcp/tools',
  'GET /v1/mcp/tools/history',
  'GET /v1/mcp/tools/changes',
  'GET /v1/mcp/instructions',
  'GET /v1/mcp/oauth',
  'DELETE /v1/mcp/oauth',
  'POST /v1/mcp/oauth/adopt',
  'POST /v1/mcp/oauth/callback',
  'POST /v1/mcp/oauth/client',
  'GET /v1/allowlist',
  'GET /v1/allowlist/suspended',
  'GET /v1/ledger/verify',
  'GET /v1/clients',
  'POST /v1/allowlist',
  'POST /v1/mcp/call',
  'GET /v1/mcp/calls',
  'GET /v1/mcp/calls/{id}',
  'POST /v1/mcp/calls/{id}/approve',
  'POST /v1/mcp/calls/{id}/deny',
  'POST /v1/mcp/calls/{id}/cancel',
  'POST /v1/mcp/calls/{id}/close',
  'GET /v1/mcp/history',
  'GET /v1/mcp/why',
  'GET /v1/mcp/stderr',
  'GET /v1/mcp/bundle',
  'GET /v1/mcp/history/summary',
  'GET /v1/mcp/doctor',
  'POST /v1/mcp/replay',
  'GET /v1/events',
  'POST /v1/rebuild',
  'POST /v1/shutdown',
  'GET /openapi.json',
  'GET /docs',
  'GET /docs/errors/{code}',
];

async function get(url: string, headers: Record<string, string> = {}) {
  const { app } = await givenApp();
  return app.inject({ url, headers: { host, ...headers } });
}

async function operations(): Promise<{ route: string; operation: any }[]> {
  const { paths } = (await get('/openapi.json')).json();
  return Object.entries<any>(paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
}

describe('The OpenAPI description', () => {
  it('is OpenAPI 3.1 and asks for the token', async () => {
    const described = (await get('/openapi.json')).json();
    expect(described).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' }, security: [{ token: [] }] });
  });

  it('lists every route and no other', async () => {
    expect((await operations()).map(({ route }) => route).toSorted()).toEqual(routes.toSorted());
  });

  it('gives every route a heading, a sentence and its answers', async () => {
    for (const { route, operation } of await operations()) {
      expect(tags, route).toContain(operation.tags[0]);
      expect(operation.summary, route).toMatch(/^[A-Z].*[^.]$/);
      expect(Object.keys(operation.responses), route).toContain('200');
    }
  });

  it('says which routes need no token', async () => {
    const open = (await operations()).filter(({ operation }) => operation.security?.length === 0);
    expect(open.map(({ route }) => route).toSorted()).toEqual(
      ['GET /health', 'GET /docs', 'GET /docs/errors/{code}', 'GET /openapi.json'].toSorted(),
    );
  });

  it('describes queries with their types', async () => {
    const found = (await operations()).find(({ route }) => route === 'GET /v1/events')?.operation;
    const limit = found.parameters.find((parameter: any) => parameter.name === 'limit');
    expect(limit).toMatchObject({
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 1000 },
    });
  });

  it('describes times as times, and arguments as an object of any members', async () => {
    const all = await operations();
    const held = all.find(({ route }) => route === 'POST /v1/mcp/call')?.operation;
    expect(held.responses['202'].content['application/json'].schema.properties.expiresAt.format).toBe('date-time');
    expect(held.requestBody.content['application/json'].schema.properties.arguments.type).toBe('object');
  });
});

describe('The page for people', () => {
  it('shows every route with an example', async () => {
    const { body, headers } = await get('/docs');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    for (const route of routes) {
      const [method, path] = route.split(' ') as [string, string];
      expect(body).toContain(`<span class="method">${method}</span> ${path}</code></h3>`);
      expect(body).toContain(`http://127.0.0.1:17987${path.replace(/\{(\w+)\}/, '&lt;$1&gt;')}`);
    }
    expect(body).toContain('-d &#39;{&quot;tool&quot;:&quot;mcp__memory__search_nodes&quot;');
    expect(body).toContain('-d &#39;{&quot;remember&quot;:&quot;once&quot;}');
  });

  it('loads nothing, runs nothing and has no broken link', async () => {
    const { body, headers } = await get('/docs');
    expect(body).not.toMatch(/<script|<link|<img|src=|@import|url\(/);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+';/);
    const links = [...new Set([...body.matchAll(/href="([^"]+)"/g)].map(([, href]) => href ?? ''))];
    const { app } = await givenApp();
    for (const link of links.filter((href) => !href.startsWith('#')))
      expect((await app.inject({ url: link, headers: { host } })).statusCode, link).toBe(200);
    for (const link of links.filter((href) => href.startsWith('#'))) expect(body).toContain(`id="${link.slice(1)}"`);
  });

  it('is where the root leads', async () => {
    const response = await get('/');
    expect(response.statusCode).toBe(302);
    expect(response.headers.location).toBe('/docs');
  });
});

describe('The page of a kind of problem', () => {
  it('is Markdown for programs', async () => {
    const response = await get('/docs/errors/server-lost');
    expect(response.headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect(response.body).toMatch(/^# The server was lost/);
  });

  it('is a page for browsers', async () => {
    const response = await get('/docs/errors/server-lost', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(response.body).toContain('<h1>The server was lost before it answered</h1>');
    expect(response.body).toContain('<li><code>watchkeeper history &lt;server&gt;</code> shows');
  });

  it('is not there for a kind that does not exist', async () => {
    for (const code of ['nothing', 'constructor', 'to-string'])
      expect((await get(`/docs/errors/${code}`)).json()).toMatchObject({ status: 404, code: 'not-found' });
  });
});
