import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Doctor } from '../../src/api/client.ts';
import { type Fake, fakeDaemon, problem } from './fake.daemon.ts';

const at = '2026-03-15T12:00:00.000Z';
const ill: Doctor['servers'][number] = {
  name: 'github',
  ok: false,
  state: 'failed',
  kind: 'command-missing',
  verdict: 'not found: command npxx is not on the PATH of the daemon; its PATH is /bin',
  confidence: 'medium',
  why: ['The check "command" failed.', 'No failure in the log says so yet.'],
  evidence: [
    { position: 7, at, text: 'spawn: \u001b[2Jcommand not found' },
    { position: null, at: null, text: 'in no row' },
  ],
  advice: [
    { text: 'did you mean npx?' },
    { text: 'Then connect again', command: 'watchkeeper reconnect github' },
    { text: 'Start it when it is used', setting: '"lazy": true' },
  ],
  also: [{ kind: 'noisy-stdout', verdict: 'prints to stdout', confidence: 'high', ok: true }],
  checks: [
    { name: 'variables', ok: true, detail: 'all are set', next: null },
    { name: 'command', ok: false, detail: 'not found', next: 'install it' },
  ],
};
const well: Doctor['servers'][number] = {
  ...ill,
  name: 'memory',
  ok: true,
  kind: 'well',
  state: 'ready',
  verdict: 'works: 9 tools, ready for 3 min',
  confidence: 'high',
};
const daemon = {
  ok: true,
  running: true,
  version: '1',
  checks: [{ name: 'disk', ok: true, detail: '9 MiB free', next: null }],
};

describe('doctor', () => {
  let fake: Fake;
  beforeEach(async () => {
    fake = await fakeDaemon({ 'GET /v1/mcp/doctor': { ok: false, servers: [ill, well], daemon } });
  });
  afterEach(() => fake.close());

  it('shows in a line who is well, and everything about who is not', async () => {
    const { exit, out, err } = await fake.run('doctor');
    expect(exit).toBe(1);
    expect(out.replace(/\d{4}-\d\d-\d\d [\d:.]+/, '<time>').split('\n')).toEqual([
      'ok     memory  works: 9 tools, ready for 3 min',
      '',
      'wrong  github  not found: command npxx is not on the PATH of the daemon; its PATH is /bin (medium confidence)',
      '  state     failed',
      '  because   The check "command" failed.',
      '            No failure in the log says so yet.',
      '  rows      7  <time>  spawn: command not found',
      '               in no row',
      '  advice    did you mean npx?',
      '            Then connect again:',
      '              watchkeeper reconnect github',
      '            Start it when it is used:',
      '              "lazy": true',
      '  also      prints to stdout (high)',
      '  checks    ok     variables  all are set',
      '            wrong  command    not found',
      '                              install it',
      '',
      'ok     the daemon',
      '  checks    ok     disk  9 MiB free',
      '',
    ]);
    expect(err).toContain('watchkeeper doctor <server>');
  });

  it('ends with 0 when all is well, and prints the answer of the API as JSON', async () => {
    const answer = { ok: true, servers: [well] };
    fake.routes['GET /v1/mcp/doctor'] = answer;
    expect(await fake.run('doctor memory --json')).toMatchObject({ exit: 0, json: answer });
    expect(fake.asked.at(-1)?.query).toEqual({ name: 'memory' });
  });

  it('suggests a near name', async () => {
    fake.routes['GET /v1/mcp/doctor'] = problem(404, 'unknown-server', 'no');
    fake.routes['GET /v1/mcp/status'] = { servers: [{ name: 'memory' }] };
    expect(await fake.run('doctor memry')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('watchkeeper doctor memory'),
    });
  });
});

describe('doctor without a daemon', () => {
  it('has nothing to look at where none ever ran', async () => {
    const fake = await fakeDaemon({}, { running: false });
    await writeFile(join(fake.folder, 'mcp.json'), '{"servers": {"a": {"command": "sh"}}}');
    expect(await fake.run('doctor')).toMatchObject({ exit: 3, err: expect.stringContaining('watchkeeper up') });
    await fake.close();
  });
});
