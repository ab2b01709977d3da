import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fake, fakeDaemon, problem } from './fake.daemon.ts';

const time = '2026-03-15T11:00:00.000Z';
const row = { server: 'memory', on: true, since: time, error: null, files: 2, bytes: 2048 };
const made = {
  fixture: 1,
  server: 'memory',
  made: { by: 'watchkeeper 0', at: time },
  recorded: { from: time, to: time },
  lives: [{ transport: 'stdio', startedAt: time }],
  notes: ['Life 1: it was connected already when the recording began.'],
};

let fake: Fake;
beforeEach(async () => {
  fake = await fakeDaemon({
    'GET /v1/mcp/record': { recordings: [row] },
    'POST /v1/mcp/record': (asked: any) => ({ ok: true, ...row, on: asked.body.on }),
    'POST /v1/mcp/fixture': made,
    'GET /v1/mcp/status': { servers: [{ name: 'memory' }] },
  });
});
afterEach(() => fake.close());

describe('record', () => {
  it('switches on and off, and says what to do next', async () => {
    const on = await fake.run('record memory on');
    expect(on).toMatchObject({ exit: 0, out: 'memory is being recorded.\n' });
    expect(on.err).toContain('watchkeeper fixture export memory memory.fixture.json');
    await fake.run('record memory off --delete');
    expect(fake.asked.map(({ body }) => body)).toEqual([
      { name: 'memory', on: true },
      { name: 'memory', on: false, delete: true },
    ]);
  });

  it('shows what is recorded without arguments, and one server by its name', async () => {
    const { out } = await fake.run('record');
    expect(out).toContain('SERVER  RECORDED');
    expect(out).toMatch(/memory {2}on {8}.* 2 {2}2\.0 KiB/);
    expect((await fake.run('record other')).out).toBe('Nothing is recorded.\n');
    expect((await fake.run('record --json')).json).toEqual({ recordings: [row] });
  });

  it.each([
    ['record memory maybe', /neither on nor off/],
    ['record memory on --delete', /--delete goes with off/],
    ['record --delete', /--delete goes with off/],
  ])('%s is used wrongly', async (line, message) => {
    const { exit, err } = await fake.run(line);
    expect(exit).toBe(2);
    expect(err).toMatch(message);
    expect(fake.asked).toEqual([]);
  });

  it('names near servers', async () => {
    fake.routes['POST /v1/mcp/record'] = problem(404, 'unknown-server', 'There is none.');
    const { exit, err } = await fake.run('record memry on');
    expect(exit).toBe(1);
    expect(err).toContain('watchkeeper record memory on');
  });
});

describe('fixture export', () => {
  it('writes the file the daemon makes, and never over another one', async () => {
    const { exit, out, err } = await fake.run('fixture export memory taped.json --from 2026-03-01 --to 10m');
    expect(exit).toBe(0);
    const file = join(fake.folder, 'taped.json');
    expect(out).toMatch(/^.*taped\.json \(\d+ bytes, 1 life\)\n$/);
    expect(err).toContain('connected already when the recording began');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(made);
    expect(fake.asked.find(({ route }) => route === 'POST /v1/mcp/fixture')?.body).toMatchObject({
      name: 'memory',
      to: '2026-03-15T11:50:00.000Z',
    });
    const again = await fake.run('fixture export memory taped.json');
    expect(again.exit).toBe(1);
    expect(again.err).toContain('exists already');
  });
});

describe('fixture serve', () => {
  it.each<[string, string | null, number, RegExp]>([
    ['none.json', null, 1, /There is no file/],
    ['text.json', 'hello', 1, /cannot be served: it is not JSON/],
    ['newer.json', '{"fixture":9}', 1, /it has format 9/],
    ['taped.json --clock fast', '{}', 2, /--clock is real, instant, or scaled:N/],
    ['taped.json --http nowhere', '{}', 2, /not a port/],
    ['taped.json --match loosely', '{}', 2, /Allowed choices are strict, arguments, tool/],
  ])('%s is refused', async (words, content, exit, message) => {
    const [name = ''] = words.split(' ');
    if (content !== null) writeFileSync(join(fake.folder, name), content);
    const ran = await fake.run(`fixture serve ${words}`);
    expect(ran.exit).toBe(exit);
    expect(ran.err).toMatch(message);
  });
});

describe('without a daemon', () => {
  it('a fixture is made of the files', async () => {
    const alone = await fakeDaemon({}, { running: false });
    const never = await alone.run('fixture export memory taped.json');
    expect(never.exit).toBe(3);
    const folder = join(alone.folder, 'recordings', 'memory');
    mkdirSync(folder, { recursive: true });
    const lines = [
      { at: 1_000, life: 'a', is: 'opened', transport: 'stdio' },
      { at: 1_001, life: 'a', is: 'out', message: { id: 1, method: 'tools/list' } },
    ];
    writeFileSync(join(folder, '000000000000001-0000.ndjson'), lines.map((line) => JSON.stringify(line)).join('\n'));
    const { exit, json } = await alone.run('fixture export memory taped.json --json');
    expect(exit).toBe(0);
    expect(json).toMatchObject({ ok: true, lives: 1 });
    for (const name of ['nobody', '..']) {
      const none = await alone.run(`fixture export ${name} none.json`);
      expect(none.exit).toBe(1);
      expect(none.err).toContain(`Nothing of ${name} was recorded`);
    }
    expect(existsSync(join(alone.folder, 'none.json'))).toBe(false);
    await alone.close();
  });
});
