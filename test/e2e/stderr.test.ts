import { describe, expect, it } from 'vitest';
import { startDaemon } from '../support/daemon.ts';
import { fakeArgs, stdioEntry } from '../support/fixtures.ts';
import { httpEntry, httpFake } from './given.ts';

const secret = 'correct-horse-battery';

describe('What a process writes to stderr', () => {
  it('is told while it runs, masked, of that process alone, and for every kind of server', async () => {
    const says = { tools: ['die'], start: { stderr: `listening, key ${secret}\n` } };
    const web = await httpFake({ behaviour: { tools: ['echo'] } });
    const daemon = await startDaemon({
      servers: {
        notes: { ...stdioEntry({ behaviour: says }), env: { KEY: secret } },
        off: { ...stdioEntry({ behaviour: says }), disabled: true },
        web: httpEntry(web),
      },
      settings: { self: true },
    });
    const stderr = async (name: string) => (await daemon.api('GET', `/v1/mcp/stderr?name=${name}`)).body;
    const { pid } = await daemon.waitForServer('notes', 'ready');
    await daemon.waitForServer('web', 'ready');

    expect(await stderr('notes')).toEqual({ name: 'notes', pid, text: 'listening, key ***\n', missing: null });
    expect(await stderr('off')).toEqual({ name: 'off', pid: null, text: '', missing: 'not-running' });
    expect(await stderr('web')).toEqual({ name: 'web', pid: null, text: '', missing: 'no-process' });
    expect(await stderr('watchkeeper')).toMatchObject({ pid: null, missing: 'no-process' });
    expect(await daemon.api('GET', '/v1/mcp/stderr?name=nobody')).toMatchObject({
      status: 404,
      body: { code: 'unknown-server' },
    });

    await daemon.call('mcp__notes__die', { message: 'the old one says good-bye' });
    const next = await daemon.waitForServer('notes', (row) => row.state === 'ready' && row.pid !== pid);
    expect(await stderr('notes')).toMatchObject({ pid: next.pid, text: 'listening, key ***\n' });

    await daemon.api('POST', '/v1/mcp/disable', { name: 'notes' });
    await daemon.waitForServer('notes', 'disabled');
    expect(await stderr('notes')).toMatchObject({ pid: null, text: '', missing: 'not-running' });
  });
});

describe('A changed entry on trial', () => {
  it('is tried with the stored value where it says ***, which is never sent back', async () => {
    const telling = ['-e', "console.error('got', process.env.KEY, process.env.KEY.length); process.exit(4)"];
    const daemon = await startDaemon({
      servers: { notes: { command: process.execPath, args: fakeArgs({ behaviour: {} }), env: { KEY: secret } } },
    });
    const posted = { command: process.execPath, args: telling, env: { KEY: '***' } };
    const { body } = await daemon.api('POST', '/v1/mcp/test', { name: 'notes', server: posted });
    expect(body).toMatchObject({ ok: false, stderr: `got *** ${secret.length}\n` });
    expect(JSON.stringify(body)).not.toContain(secret);

    const other = { ...posted, env: { OTHER: '***' } };
    expect(await daemon.api('POST', '/v1/mcp/test', { name: 'notes', server: other })).toMatchObject({
      status: 400,
      body: { code: 'entry-invalid', detail: expect.stringContaining('env.OTHER') },
    });
    expect(await daemon.api('POST', '/v1/mcp/test', { name: 'nobody', server: posted })).toMatchObject({
      status: 404,
      body: { code: 'unknown-server' },
    });
  });
});
