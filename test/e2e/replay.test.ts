/** Replay of what a real daemon wrote: while it runs, and from its files when it has ended. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replayed } from '../../src/http/contract.replay.ts';
import { packageVersion } from '../../src/root.ts';
import { type Daemon, plainEnv, runCli } from '../support/daemon.ts';
import { needsPython } from '../support/needs.ts';
import { cliMain, onATerminal, projectRoot } from '../support/paths.ts';
import { liveThroughEverything, missingIn } from './whole.story.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await liveThroughEverything();
}, 120_000);
afterAll(() => daemon.stop());

const replay = async (body: unknown) => {
  const { status, body: answer } = await daemon.api('POST', '/v1/mcp/replay', body);
  return { status, ...answer };
};

describe('While the daemon runs', () => {
  it.each([{}, { fast: true }])('the whole log is explained, and leads to what is stored: %j', async (more) => {
    const { status, ...answer } = await replay(more);
    expect(status).toBe(200);
    expect(replayed.strict().parse(answer)).toMatchObject({ ok: true, heads: true });
    expect(answer.facts).toBeGreaterThan(150);
  });

  it.each(['steady', 'web', 'leaver', 'silent', 'locked', 'missing', 'off', 'gone'])(
    'with the limits it had %s goes on as it did',
    async (name) => {
      const { whatIf } = await replay({ name, set: {} });
      expect(whatIf.changed).toEqual({ ...whatIf.recorded, assumed: [] });
      expect(whatIf.atBest).toEqual(whatIf.changed);
    },
  );

  it('other limits change what can be changed, and name what was assumed', async () => {
    const { whatIf } = await replay({ name: 'silent', set: { listTimeoutMs: 20_000 } });
    expect(whatIf).toMatchObject({ recorded: { upMs: 0 }, changed: { upMs: 0 }, was: { listTimeoutMs: 300 } });
    expect(whatIf.changed.attempts).toBeLessThan(whatIf.recorded.attempts);
    expect(whatIf.changed.assumed).toContainEqual(expect.objectContaining({ kind: 'list' }));
    const patient = await replay({ name: 'leaver', set: { backoffBaseMs: 20_000 } });
    expect(patient.whatIf.changed.attempts).toBeLessThan(patient.whatIf.recorded.attempts);
  });

  it('what cannot be asked is refused by its name', async () => {
    expect(await replay({ name: 'web', set: { maxAttempts: 3 } })).toMatchObject({
      status: 400,
      detail: expect.stringMatching(/"maxAttempts" cannot be changed\. What can: connectTimeoutMs, .*backoffMaxMs/),
    });
    expect(await replay({ name: 'nobody' })).toMatchObject({ status: 404, code: 'unknown-server' });
  });

  it('the command shows the same as HTTP', async () => {
    const told = await runCli(daemon, ['replay', 'leaver', '--what-if', 'backoffBaseMs=20s', '--to', '60', '--json']);
    const { status: _, ...answer } = await replay({
      name: 'leaver',
      set: { backoffBaseMs: 20_000 },
      to: 60,
      fast: true,
    });
    expect(JSON.parse(told.stdout)).toEqual(answer);
    const lines = (await runCli(daemon, ['replay', 'leaver'])).stdout;
    expect(lines).toMatch(/connecting → backing-off +attempt 1 failed: exit: .*nothing to do here.*, next try in/);
  });
});

describe('When it has ended', () => {
  let facts: any[] = [];
  beforeAll(async () => {
    await daemon.stop();
    const { stdout } = await runCli(daemon, ['log', '--since', '0', '--json']);
    facts = JSON.parse(stdout).events;
  });

  it('everything that can happen has happened', () => {
    expect(missingIn(facts)).toEqual([]);
  });

  it('its files are explained as they were, to the last fact', async () => {
    const { code, stdout } = await runCli(daemon, ['replay', '--verify', '--json']);
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, ok: true, heads: true, facts: facts.length });
    expect((await runCli(daemon, ['replay', 'web'])).stdout).toContain('ready → session-lost');
  });

  it.for<[string, string[], number]>([
    ['q', [' ', 'q'], 2],
    ['Ctrl-C', ['\r', ' ', '\u0003'], 3],
    ['SIGTERM', [' ', 'SIGTERM'], 2],
  ])('a line a key on a terminal, which is as it was after %s', ([, keys, lines], context) => {
    needsPython(context);
    const command = [process.execPath, cliMain, 'replay', 'web', '--step'];
    const { stdout } = spawnSync('python3', [onATerminal, JSON.stringify(keys), ...command], {
      env: plainEnv(daemon.home, { WATCHKEEPER_DATA: daemon.dir, WATCHKEEPER_CONFIG: daemon.config, TERM: 'xterm' }),
      encoding: 'utf8',
    });
    const { output, ...ended } = JSON.parse(stdout);
    expect(ended).toEqual({ code: 0, raw: true, restored: true });
    expect(output.match(/^.*\d{2}:\d{2}:\d{2}\.\d{3}.*$/gm)).toHaveLength(lines);
  });

  // Only where it is asked for: a log is kept once for each release, and never written again.
  const keep = process.env.FREEZE_LOG === '1' ? it : () => {};
  keep('its log is kept for those who come later', () => {
    const folder = join(projectRoot, 'test/events/frozen');
    const names = Array.from({ length: 99 }, (_, n) => `${packageVersion()}${n === 0 ? '' : `-${n + 1}`}.ndjson`);
    const file = names.map((name) => join(folder, name)).find((path) => !existsSync(path)) ?? '';
    mkdirSync(folder, { recursive: true });
    const rows = facts.map((fact) => JSON.stringify({ ...fact, at: Date.parse(fact.at) }));
    writeFileSync(file, `${rows.join('\n')}\n`, { flag: 'wx' });
  });

  it('a row that somebody changed is found, with its position', async () => {
    const { position } = facts.find(({ type, stream }) => type === 'Connected' && stream === 'server-web');
    const db = new Database(join(daemon.dir, 'watchkeeper.db'));
    db.prepare("update events set data = json_set(data, '$.to', 'failed') where position = ?").run(position);
    db.close();
    for (const more of [[], ['--fast']]) {
      const { code, stdout } = await runCli(daemon, ['replay', '--verify', ...more, '--json']);
      expect({ code, ...JSON.parse(stdout) }).toMatchObject({
        code: 1,
        ok: false,
        divergence: { position, recorded: 'failed', folded: 'listing', stream: 'server-web' },
      });
    }
    const shown = await runCli(daemon, ['replay', 'web', '--verify']);
    expect(shown).toMatchObject({ code: 1, stdout: expect.stringContaining(`position ${position}`) });
  });
});
