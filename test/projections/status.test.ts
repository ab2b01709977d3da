import { describe, expect, it } from 'vitest';
import type { ServerFact } from '../../src/events/server.events.ts';
import { readStatus, type StatusRow } from '../../src/projections/status.projection.ts';
import {
  configured,
  connected,
  connectFailed,
  connecting,
  delayed,
  died,
  disabled,
  elapsed,
  enabled,
  listed,
  listFailed,
  listRefused,
  loginRequired,
  lost,
  process,
  pushChanged,
  reconnecting,
  refused401,
  removed,
  serverFailed,
  settledDown,
  stopped,
  stopRequested,
} from '../support/server.facts.ts';
import { givenLog, storyOn } from '../support/story.ts';

const begun = [configured(), enabled, connecting(), process()];
const ready = [...begun, connected(), listed()];

/** Each item is told 1,000 ms after the one before it, from 1,000 on. */
async function rowAfter(...facts: readonly (ServerFact | readonly ServerFact[])[]): Promise<StatusRow | undefined> {
  const log = givenLog();
  const story = storyOn(log);
  let at = 0;
  for (const together of facts) {
    at += 1_000;
    await story.tell(at, 'server-a', ...('type' in together ? [together] : together));
  }
  const rows = readStatus(log.db);
  expect(rows.length).toBeLessThanOrEqual(1);
  return rows[0];
}

describe('The status of a server', () => {
  it('begins stopped, with what the entry says', async () => {
    expect(await rowAfter(configured())).toEqual({
      server: 'a',
      position: 1,
      transport: 'stdio',
      state: 'stopped',
      since: 1_000,
      error: null,
      attempt: 0,
      nextAttemptAt: null,
      pid: null,
      era: null,
      protocolVersion: null,
      serverInfo: null,
      instructions: null,
      tools: 0,
      lastSeen: null,
      push: null,
      gone: false,
    });
  });

  it('is all that was learnt once the server is ready', async () => {
    expect(await rowAfter([configured(), enabled], connecting(), process(), connected(), listed())).toMatchObject({
      state: 'ready',
      since: 5_000,
      error: null,
      attempt: 1,
      pid: 42,
      era: 'legacy',
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'one', version: '1' },
      tools: 1,
      lastSeen: 5_000,
    });
  });

  it('says since when the state holds, whatever happens in it', async () => {
    const row = await rowAfter(ready, listed(1, 's2'), pushChanged(false), settledDown());
    expect(row).toMatchObject({ state: 'ready', since: 1_000, position: 9, lastSeen: 2_000, push: false });
  });

  it('does not change for other servers', async () => {
    const log = givenLog();
    const story = storyOn(log);
    await story.tell(1_000, 'server-b', ...ready);
    await story.tell(2_000, 'server-B', configured());
    await story.tell(3_000, 'server-a', ...begun);
    expect(readStatus(log.db).map(({ server, state }) => [server, state])).toEqual([
      ['B', 'stopped'],
      ['a', 'connecting'],
      ['b', 'ready'],
    ]);
  });
});

describe('An error', () => {
  it('that waits says when the next attempt is due', async () => {
    const row = await rowAfter(begun, connectFailed(1, 1, 375));
    expect(row).toMatchObject({
      state: 'backing-off',
      error: { class: 'exit', message: died.message, at: 2_000 },
      nextAttemptAt: 2_375,
      pid: null,
    });
  });

  it('stays shown during the next attempt, which is due no more', async () => {
    const row = await rowAfter(begun, connectFailed(), [elapsed, reconnecting()]);
    expect(row).toMatchObject({ state: 'reconnecting', error: { at: 2_000 }, attempt: 2, nextAttemptAt: null });
  });

  it('goes with success', async () => {
    const row = await rowAfter(
      begun,
      connectFailed(),
      [elapsed, reconnecting()],
      [process(2), connected(2)],
      listed(2),
    );
    expect(row).toMatchObject({ state: 'ready', error: null, attempt: 2, nextAttemptAt: null, pid: 42 });
  });

  it('of a loss takes process and push with it and keeps the tools', async () => {
    const row = await rowAfter([...ready, pushChanged(true)], [lost(), reconnecting()]);
    expect(row).toMatchObject({
      state: 'reconnecting',
      error: { class: 'exit', at: 2_000 },
      pid: null,
      push: null,
      tools: 1,
      lastSeen: 1_000,
    });
  });

  it('of a loss that comes soon after another waits as well', async () => {
    const row = await rowAfter(ready, [lost(), delayed(3, 742)]);
    expect(row).toMatchObject({ state: 'backing-off', nextAttemptAt: 2_742 });
  });

  it('of a later list leaves the server ready with the tools it had', async () => {
    const row = await rowAfter(ready, listFailed());
    expect(row).toMatchObject({
      state: 'ready',
      since: 1_000,
      tools: 1,
      pid: 42,
      error: { class: 'protocol', message: listRefused.message, at: 2_000 },
    });
    expect(await rowAfter(ready, listFailed(), listed(1, 's1', null))).toMatchObject({ error: null, tools: 1 });
  });

  it('of the entry is told with field and reason, and there is no transport', async () => {
    const problem = { field: 'command', message: 'neither `command` nor `url` is set' };
    const failure = { class: 'config', phase: 'config', message: `command: ${problem.message}` } as const;
    const row = await rowAfter([configured({ transport: null, problem }), enabled, serverFailed(0, failure)]);
    expect(row).toMatchObject({
      state: 'failed',
      transport: null,
      error: { class: 'config', message: failure.message, at: 1_000 },
    });
  });

  it('of the entry is forgotten when the entry changes', async () => {
    const broken = configured({ transport: null, problem: { field: 'url', message: 'is none' } });
    const row = await rowAfter(
      [broken, enabled, serverFailed(0)],
      [configured({ revision: 'r2' }), stopped('config-changed')],
    );
    expect(row).toMatchObject({ state: 'stopped', error: null, transport: 'stdio' });
  });

  it('that needs a person waits for no time', async () => {
    expect(await rowAfter(begun, loginRequired())).toMatchObject({
      state: 'auth-required',
      error: { class: 'auth', message: refused401.message },
      nextAttemptAt: null,
    });
  });
});

describe('What was learnt of a server', () => {
  const http = configured({ revision: 'r2', transport: 'streamable-http' });

  it('is forgotten when it is reached in another way', async () => {
    const row = await rowAfter(ready, [http, stopRequested('config-changed')]);
    expect(row).toMatchObject({ transport: 'streamable-http', era: null, protocolVersion: null, serverInfo: null });
  });

  it('is kept when something else of its entry changes', async () => {
    const row = await rowAfter(ready, [configured({ revision: 'r2' }), stopRequested('config-changed')]);
    expect(row).toMatchObject({ transport: 'stdio', era: 'legacy', serverInfo: { name: 'one' } });
  });
});

describe('A server that is stopped', () => {
  it('shows neither process nor error nor attempt', async () => {
    const row = await rowAfter(ready, listFailed(), stopRequested('reconnect'), stopped('reconnect'));
    expect(row).toMatchObject({ state: 'stopped', since: 4_000, error: null, pid: null, attempt: 0, tools: 1 });
  });

  it('shows as disabled while it is', async () => {
    const off = [configured({ revision: 'r2', wanted: 'off' }), stopRequested('disabled')];
    expect(await rowAfter(ready, off, [stopped('disabled'), disabled])).toMatchObject({
      state: 'disabled',
      since: 3_000,
    });
  });

  it('is not shown once its entry is removed', async () => {
    expect(await rowAfter(ready, [removed, stopRequested('removed')])).toBeUndefined();
  });

  it('is shown again when an entry of its name comes back, without the tools of the old one', async () => {
    const row = await rowAfter(ready, [removed, stopRequested('removed')], stopped('removed'), [configured(), enabled]);
    expect(row).toMatchObject({ state: 'idle', tools: 0, instructions: null });
  });
});
