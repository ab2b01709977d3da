/** Sessions whose client went away without a word. */
import { describe, expect, it } from 'vitest';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { stdioEntry } from '../support/fixtures.ts';
import { legacyClient } from './client.ts';

const servers = { one: stdioEntry({ behaviour: { tools: ['sleep', 'echo'] } }) };

async function sessionsOf(daemon: Daemon): Promise<number> {
  const { body } = await daemon.api('GET', '/metrics');
  return Number(/^watchkeeper_mcp_sessions (\d+)$/m.exec(body)?.[1] ?? Number.NaN);
}

/** Long enough to open a few sessions on a busy machine before the first is forgotten. */
const settings = { mcp: { sessionIdleMs: 1_500 } };

describe('A session that nobody uses any more', () => {
  it('is forgotten after the time that is set, and answers 404 from then on', async () => {
    const daemon = await startDaemon({ servers, settings });
    const listening = await legacyClient(daemon, '/mcp/one');
    const stream = await listening.listen();
    const abandoned = await Promise.all(Array.from({ length: 50 }, () => legacyClient(daemon)));
    await daemon.waitFor(async () => (await sessionsOf(daemon)) === 1);
    for (const client of abandoned) {
      const { status, body } = await client.ask('tools/list');
      expect(status).toBe(404);
      expect(body.error).toMatchObject({ code: -32001, message: expect.stringContaining('begin with initialize') });
      expect((await client.listen()).status).toBe(404);
      expect(await client.leave()).toBe(404);
    }
    // One that is listened to is in use.
    expect((await listening.ask('ping')).body.result).toEqual({});
    await stream.body?.cancel();
    await daemon.waitFor(async () => (await sessionsOf(daemon)) === 0);
    expect((await (await legacyClient(daemon)).ask('ping')).body.result).toEqual({});
    await daemon.stop();
  });

  it('is in use as long as a call of it runs', async () => {
    const daemon = await startDaemon({ servers, settings, allow: ['mcp__one__*'] });
    await daemon.waitForServer('one', 'ready');
    const busy = await legacyClient(daemon, '/mcp/one');
    const answer = busy.ask('tools/call', { name: 'sleep', arguments: { ms: 600_000 } }, { id: 'long' });
    const idle = await legacyClient(daemon);
    await daemon.waitFor(async () => (await sessionsOf(daemon)) === 1);
    expect((await idle.ask('ping')).status).toBe(404);
    expect((await busy.ask('ping')).body.result).toEqual({});
    await busy.notify('notifications/cancelled', { requestId: 'long' });
    await answer;
    await daemon.stop();
  });
});
