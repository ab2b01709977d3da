import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { checkedFetch, lookupWithin } from '../../src/oauth/checked.fetch.ts';
import { LoginError, ServerTrouble } from '../../src/oauth/trouble.ts';
import { atEnd } from '../support/cleanup.ts';

const local = { local: true, ownPorts: [], ownAddresses: [], server: 'localhost' };

async function given(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/meta`;
}

const errorOf = async (work: Promise<unknown>): Promise<unknown> => work.then(() => null).catch((error) => error);

describe('An answer in a login', () => {
  it('that never ends is cut at 1 MiB', async () => {
    const url = await given((_request, response) => {
      const more = () => {
        while (response.write('x'.repeat(65_536)) && !response.destroyed);
      };
      response.on('drain', more);
      more();
    });
    const error = await errorOf(checkedFetch(local)(url));
    expect(error).toBeInstanceOf(LoginError);
    expect(String(error)).toMatch(/more than 1 MiB/);
  });

  it.each<[string, RequestListener]>([
    ['comes in drops', (_request, response) => void setInterval(() => response.write(' '), 20).unref()],
    ['never begins', () => {}],
  ])('that %s is not waited for', async (_how, answer) => {
    const url = await given(answer);
    const error = await errorOf(checkedFetch(local, undefined, 250)(url));
    expect(error).toBeInstanceOf(ServerTrouble);
    expect(String(error)).toMatch(/127\.0\.0\.1.*time/);
  });

  it('that leads elsewhere is given back as it is', async () => {
    let asked = 0;
    const url = await given((_request, response) => {
      asked += 1;
      response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
    });
    expect((await checkedFetch(local)(url)).status).toBe(302);
    expect(asked).toBe(1);
  });

  it('ends with the login', async () => {
    const url = await given(() => {});
    const abort = new AbortController();
    const asked = errorOf(checkedFetch(local, abort.signal)(url));
    abort.abort(new LoginError('over'));
    expect(String(await asked)).toMatch(/over/);
  });
});

describe('What a name leads to', () => {
  const rules = { local: false, ownPorts: [], ownAddresses: ['192.0.2.7'], server: 'mcp.example' };
  /** The addresses that may be used, or why none may. */
  const looked = (given: { name: string; leads: Record<string, string[]>; local?: boolean; loopback?: boolean }) => {
    const { name, leads, local = false, loopback = false } = given;
    const resolve = async (host: string) =>
      (leads[host] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    return new Promise<unknown>((done) => {
      lookupWithin({ ...rules, local }, loopback, resolve)(name, { all: true }, (error, found) =>
        done(error ? error.message : (found as { address: string }[]).map(({ address }) => address)),
      );
    });
  };
  const name = 'as.example';

  it.each<[string, Partial<Parameters<typeof looked>[0]>, RegExp]>([
    ['this machine, for a server elsewhere', { leads: { [name]: ['127.0.0.1', '::1'] } }, /of this machine/],
    ['an address of this machine', { leads: { [name]: ['192.0.2.7'] } }, /of this machine/],
    ['an address of this machine, written as IPv6', { leads: { [name]: ['::ffff:192.0.2.7'] } }, /of this machine/],
    ['the link', { local: true, leads: { [name]: ['169.254.169.254', 'fe80::1%eth0'] } }, /of its link/],
    ['nothing', { leads: {} }, /of this machine/],
    [
      'this machine, where the server is there too',
      { leads: { [name]: ['127.0.0.1'], 'mcp.example': ['127.0.0.1'] } },
      /./,
    ],
    [
      'elsewhere, although it is called localhost',
      { name: 'as.localhost', loopback: true, local: true, leads: { 'as.localhost': ['198.51.100.1'] } },
      /does not lead to this machine/,
    ],
  ])('is not asked: %s', async (_what, given, reason) => {
    expect(await looked({ name, leads: {}, ...given })).toMatch(reason);
  });

  it('is asked where it is elsewhere, and only there', async () => {
    const leads = { [name]: ['127.0.0.1', '198.51.100.1', '169.254.1.1', '2001:db8::1'] };
    expect(await looked({ name, leads })).toEqual(['198.51.100.1', '2001:db8::1']);
  });

  it('may be an address of this machine where the MCP server has the same behind its name', async () => {
    const leads = { [name]: ['192.0.2.7'], 'mcp.example': ['192.0.2.7'] };
    expect(await looked({ name, leads })).toEqual(['192.0.2.7']);
  });
});
