import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AlreadyOwned, type Ownership, takeOwnership } from '../../src/daemon/owner.ts';
import { atEnd } from '../support/cleanup.ts';
import { type Home, makeHome, plainEnv, startDaemon } from '../support/daemon.ts';
import { cliMain } from '../support/paths.ts';
import { isAlive, signal } from '../support/processes.ts';
import { tempDir } from '../support/temp.ts';
import { until } from '../support/wait.ts';

const held: Ownership[] = [];
atEnd(() => {
  for (const ownership of held) ownership.release();
});

function take(dir: string): Ownership {
  const ownership = takeOwnership(dir);
  held.push(ownership);
  return ownership;
}

function refusalOf(dir: string): string {
  try {
    take(dir);
  } catch (error) {
    expect(error).toBeInstanceOf(AlreadyOwned);
    return String(error);
  }
  throw new Error('The directory was taken twice.');
}

/** Every file with its content; what is written all the time, the database, by name alone. */
function stateOf(dir: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(dir)
      .sort()
      .filter((name) => !name.endsWith('.sock'))
      .map((name) => {
        if (name.startsWith('watchkeeper.db')) return [name, ''];
        const { mtimeMs, mode } = statSync(join(dir, name));
        return [
          name,
          `${mode} ${mtimeMs} ${createHash('sha256')
            .update(readFileSync(join(dir, name)))
            .digest('hex')}`,
        ];
      }),
  );
}

describe('A data directory', () => {
  it('has one owner, and whoever comes second is told which', () => {
    const dir = tempDir();
    take(dir);
    const refusal = refusalOf(dir);
    expect(refusal).toContain(`pid ${process.pid}`);
    expect(refusal).toContain(dir);
    expect(refusal).toMatch(/watchkeeper down.*--data/);
  });

  it('names the address of the owner too, once it has one', () => {
    const dir = tempDir();
    take(dir);
    writeFileSync(join(dir, 'daemon.json'), JSON.stringify({ pid: process.pid, url: 'http://127.0.0.1:4711' }));
    expect(refusalOf(dir)).toContain('http://127.0.0.1:4711');
  });

  it('names no address that an earlier owner left behind', () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'daemon.json'), JSON.stringify({ pid: 1, url: 'http://127.0.0.1:4711' }));
    take(dir);
    expect(refusalOf(dir)).not.toContain('4711');
  });

  it('is free again when its owner lets go, and letting go twice is no fault', () => {
    const dir = tempDir();
    const first = take(dir);
    first.release();
    first.release();
    take(dir);
    refusalOf(dir);
  });

  it('stays with its owner however often it was asked for', () => {
    const dir = tempDir();
    take(dir);
    for (let time = 0; time < 3; time += 1) refusalOf(dir);
  });

  it('is not changed by those who are refused', () => {
    const dir = tempDir();
    take(dir);
    const before = stateOf(dir);
    refusalOf(dir);
    expect(stateOf(dir)).toEqual(before);
  });

  it('does not take a pid that was left in it for an owner', () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'owner.pid'), `${process.ppid}\n`);
    writeFileSync(join(dir, 'owner.lock'), '');
    take(dir);
    expect(readFileSync(join(dir, 'owner.pid'), 'utf8').trim()).toBe(String(process.pid));
  });

  it.skipIf(process.platform === 'win32')('keeps who owns it to its owner', () => {
    const dir = tempDir();
    take(dir);
    for (const name of ['owner.lock', 'owner.pid'])
      expect([name, statSync(join(dir, name)).mode & 0o777]).toEqual([name, 0o600]);
  });

  it('is another one for another directory', () => {
    take(tempDir());
    take(tempDir());
  });
});

interface Contender {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  readonly ended: Promise<number | null>;
  code: number | null | undefined;
}

function up(home: Home): Contender {
  const args = [cliMain, 'up', '--json', '--port', '0', '--config', home.config, '--data', home.dir];
  const child = spawn(process.execPath, args, {
    cwd: home.home,
    env: plainEnv(home.home),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += chunk));
  child.stderr.on('data', (chunk) => (output.stderr += chunk));
  const contender: Contender = {
    child,
    output,
    code: undefined,
    ended: new Promise((resolve) => {
      child.on('exit', (code) => {
        contender.code = code;
        resolve(code);
      });
    }),
  };
  atEnd(async () => {
    if (contender.code !== undefined) return;
    signal(child.pid ?? 0, 'SIGKILL');
    await contender.ended;
  });
  return contender;
}

const isReady = ({ output }: Contender): boolean => output.stdout.includes('\n');

describe('A second daemon', () => {
  it('in the directory of a running one exits 1, names it, and changes nothing', async () => {
    const daemon = await startDaemon();
    const before = stateOf(daemon.dir);
    const facts = await daemon.events();
    const second = up(daemon);
    expect(await second.ended).toBe(1);
    expect(second.output.stderr).toContain(`pid ${daemon.pid}`);
    expect(second.output.stderr).toContain(daemon.url);
    expect(second.output.stdout).toBe('');
    expect(stateOf(daemon.dir)).toEqual(before);
    expect(await daemon.events()).toEqual(facts);
    expect(await daemon.status()).toEqual([]);
  });

  it.each([1, 2, 3, 4, 5])(
    'started at the same instant: one of the two runs, the other exits 1 and names it (pair %d)',
    async () => {
      const home = makeHome();
      const pair = [up(home), up(home)];
      await until(() => pair.some(isReady) && pair.some(({ code }) => code !== undefined), { limitMs: 25_000 });
      const winner = pair.find(isReady);
      const loser = pair.find(({ code }) => code !== undefined);
      expect(winner?.code).toBeUndefined();
      expect(loser?.code).toBe(1);
      expect(loser?.output.stdout).toBe('');
      expect(loser?.output.stderr).toContain(`pid ${winner?.child.pid}`);
      const facts = JSON.parse(readFileSync(join(home.dir, 'daemon.json'), 'utf8'));
      expect(facts.pid).toBe(winner?.child.pid);
      signal(winner?.child.pid ?? 0, 'SIGTERM');
      expect(await winner?.ended).toBe(0);
    },
  );

  it('starts at once after the first was killed, for there is no lock that outlives it', async () => {
    const daemon = await startDaemon();
    const first = daemon.pid;
    await daemon.kill();
    expect(isAlive(first)).toBe(false);
    expect(existsSync(join(daemon.dir, 'daemon.json'))).toBe(true);
    await daemon.restart();
    expect(daemon.pid).not.toBe(first);
    expect((await daemon.api('GET', '/health')).status).toBe(200);
  });
});
