import { describe, expect, it } from 'vitest';
import type { CheckedFetch } from '../../src/oauth/checked.fetch.ts';
import { discover } from '../../src/oauth/discover.ts';
import { LoginError, ServerTrouble } from '../../src/oauth/trouble.ts';

const rules = { local: false, ownPorts: [], ownAddresses: [], server: 'mcp.example' };
const server = new URL('https://mcp.example/team/mcp');
const resource = { resource: 'https://mcp.example/team/mcp', authorization_servers: ['https://as.example'] };
const metadata = {
  issuer: 'https://as.example',
  authorization_endpoint: 'https://as.example/authorize',
  token_endpoint: 'https://as.example/token',
  code_challenge_methods_supported: ['S256'],
};
const places = {
  resource: 'https://mcp.example/.well-known/oauth-protected-resource/team/mcp',
  root: 'https://mcp.example/.well-known/oauth-protected-resource',
  server: 'https://as.example/.well-known/oauth-authorization-server',
  openid: 'https://as.example/.well-known/openid-configuration',
};

type Page = () => Response;
const json =
  (document: unknown, status = 200): Page =>
  () =>
    Response.json(document, { status });
const redirect =
  (location: string): Page =>
  () =>
    new Response(null, { status: 302, headers: { location } });

/** A web of pages; what is asked for is remembered. */
function given(pages: Record<string, Page>) {
  const asked: string[] = [];
  const fetch: CheckedFetch = async (url) => {
    asked.push(String(url));
    return (pages[String(url)] ?? (() => new Response('', { status: 404 })))();
  };
  return { asked, find: (advertised?: string) => discover(server, advertised, true, rules, fetch) };
}

const good = { [places.resource]: json(resource), [places.server]: json(metadata) };

describe('Discovery', () => {
  it('follows a redirect within the origin', async () => {
    const { find } = given({
      ...good,
      [places.server]: redirect('/elsewhere'),
      'https://as.example/elsewhere': json(metadata),
    });
    expect((await find()).server.tokenEndpoint).toBe('https://as.example/token');
  });

  it.each<[string, Page, RegExp]>([
    ['to itself', redirect(places.server), /publishes no metadata/],
    ['to another origin', redirect('https://evil.example/meta'), /publishes no metadata/],
    ['to an address of the link', redirect('http://169.254.169.254/latest/meta-data'), /publishes no metadata/],
    ['to something that is no address', redirect('https://['), /publishes no metadata/],
  ])('follows none %s, and does not go round', async (_where, page, reason) => {
    const { asked, find } = given({ ...good, [places.server]: page });
    await expect(find()).rejects.toThrow(reason);
    expect(asked.every((url) => url.startsWith('https://mcp.example/') || url.startsWith('https://as.example/'))).toBe(
      true,
    );
    expect(asked.length).toBeLessThan(10);
  });

  it.each<[string, Record<string, Page>, RegExp]>([
    ['text', { [places.server]: () => new Response('hello') }, /as\.example.*not JSON/],
    ['a list', { [places.server]: json([]) }, /not a JSON object/],
    ['without PKCE', { [places.server]: json({ ...metadata, code_challenge_methods_supported: undefined }) }, /PKCE/],
    [
      'with plain PKCE',
      { [places.server]: json({ ...metadata, code_challenge_methods_supported: ['plain'] }) },
      /PKCE/,
    ],
    [
      'with PKCE as a text',
      { [places.server]: json({ ...metadata, code_challenge_methods_supported: 'S256' }) },
      /PKCE/,
    ],
    ['of another issuer', { [places.server]: json({ ...metadata, issuer: 'https://as.example/' }) }, /another issuer/],
  ])('refuses metadata that is %s, and looks for no better one elsewhere', async (_what, pages, reason) => {
    const { asked, find } = given({ ...good, ...pages, [places.openid]: json(metadata) });
    await expect(find()).rejects.toThrow(reason);
    expect(asked).not.toContain(places.openid);
  });

  it('takes a page for everything that is not there for what it is', async () => {
    const page: Page = () => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } });
    const { find } = given({ [places.resource]: page, [places.root]: json(resource), [places.server]: json(metadata) });
    expect((await find()).server.issuer).toBe('https://as.example');
  });

  it('waits for a server in trouble, and does not take it for one without metadata', async () => {
    const { find } = given({ ...good, [places.server]: json({}, 503) });
    await expect(find()).rejects.toBeInstanceOf(ServerTrouble);
  });

  it('tries the next of several authorization servers, and no more than a few', async () => {
    const many = Array.from({ length: 50 }, (_, n) => `https://as${n}.example`);
    const listed = (authorization_servers: string[]) => json({ ...resource, authorization_servers });
    const second = given({ ...good, [places.resource]: listed(['https://gone.example', 'https://as.example']) });
    expect((await second.find()).server.issuer).toBe('https://as.example');
    const none = given({ [places.resource]: listed(many) });
    await expect(none.find()).rejects.toBeInstanceOf(LoginError);
    expect(none.asked.length).toBeLessThan(20);
  });

  it.each([
    ['http://mcp.example/meta', /not encrypted/],
    ['https://127.0.0.1/meta', /this machine/],
    ['https://user:secret@mcp.example/meta', /user name/],
    ['https://[fe80::1]/meta', /link-local/],
    ['file:///etc/passwd', /file:/],
  ])('asks for nothing when the challenge names %s', async (advertised, reason) => {
    const { asked, find } = given(good);
    const error = await find(advertised).catch((thrown: Error) => thrown);
    expect(String(error)).toMatch(reason);
    expect(String(error)).not.toContain('secret');
    expect(asked).toEqual([]);
  });
});
