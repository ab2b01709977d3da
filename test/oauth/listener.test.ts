import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { CallbackListener, type Lease } from '../../src/oauth/listener.ts';
import { freePort } from '../e2e/login.ts';
import { atEnd } from '../support/cleanup.ts';

const issuer = 'https://as.example';
const uriOf = (port: number): string => `http://localhost:${port}/callback`;

/** Waits for a state; says which codes came. */
function expecting(lease: Lease, state: string, path = '/callback'): string[] {
  const codes: string[] = [];
  lease.expect(state, path, {
    issuer,
    sendsIssuer: false,
    take: async (verdict) => {
      codes.push(verdict.kind === 'code' ? verdict.code : verdict.kind);
      return 'done';
    },
  });
  return codes;
}

const statusOf = async (url: string): Promise<number | 'nobody'> =>
  fetch(url).then(
    ({ status }) => status,
    () => 'nobody',
  );

/** Another program on the port, on one family of addresses. */
async function squat(host: string, port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  atEnd(() => void server.close());
}

describe('The callback listener', () => {
  it.each([
    ['127.0.0.1', '[::1]'],
    ['::1', '127.0.0.1'],
    ['0.0.0.0', '[::1]'],
    ['::', null],
  ])('says that its port is taken when another program has it on %s, and leaves nothing open', async (host, other) => {
    const port = await freePort();
    await squat(host, port);
    const open = new CallbackListener().open(uriOf(port));
    await expect(open).rejects.toThrow(new RegExp(`Port ${port}.*oauth\\.callbackPort`));
    if (other !== null) expect(await statusOf(`http://${other}:${port}/`)).toBe('nobody');
  });

  it('does without a family of addresses that the machine lacks', async () => {
    const port = await freePort();
    // An address that no machine has (RFC 5737) stands for ::1 where there is no IPv6.
    const listener = new CallbackListener(Date.now, ['127.0.0.1', '192.0.2.1']);
    const lease = await listener.open(uriOf(port));
    const codes = expecting(lease, 'one');
    expect(await statusOf(`http://127.0.0.1:${port}/callback?state=one&code=c`)).toBe(200);
    expect(codes).toEqual(['c']);
    lease.close();
    const nowhere = new CallbackListener(Date.now, ['192.0.2.1']).open(uriOf(port));
    await expect(nowhere).rejects.toThrow(/no address of this machine/);
  });

  it('stays open for a login that begins in the moment in which the last one ends', async () => {
    const port = await freePort();
    const listener = new CallbackListener();
    const first = await listener.open(uriOf(port));
    const opening = listener.open(uriOf(port));
    first.close();
    const second = await opening;
    const codes = expecting(second, 'two');
    expect(await statusOf(`http://127.0.0.1:${port}/callback?state=two&code=c`)).toBe(200);
    expect(codes).toEqual(['c']);
    second.close();
    second.close();
    expect(await statusOf(`http://127.0.0.1:${port}/callback`)).toBe('nobody');
  });

  it('takes each state once, at its own path and port, and calls a page that is loaded again no stray', async () => {
    const [port, other] = [await freePort(), await freePort()];
    const listener = new CallbackListener();
    const one = await listener.open(uriOf(port));
    const two = await listener.open(`http://127.0.0.1:${other}/back`);
    const codes = expecting(one, 'one');
    expecting(two, 'two', '/back');
    expect(await statusOf(`http://localhost:${other}/back?state=one&code=forged`)).toBe(400);
    expect(await statusOf(`http://localhost:${port}/callback?state=two&code=forged`)).toBe(400);
    expect(codes).toEqual([]);
    const hits = await Promise.all(
      Array.from({ length: 5 }, () => statusOf(`http://localhost:${port}/callback?state=one&code=c`)),
    );
    expect(hits).toEqual(hits.map(() => 200));
    expect(codes).toEqual(['c']);
    one.close();
    expect(await statusOf(`http://localhost:${other}/back?state=one&code=late`)).toBe(200);
    expect(codes).toEqual(['c']);
    two.close();
  });
});
