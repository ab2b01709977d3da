import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { endOrphans, findOrphans } from '../../src/daemon/orphans.ts';
import { RUN_VARIABLE } from '../../src/mcp/connection.ts';
import { atEnd } from '../support/cleanup.ts';
import { isAlive, signal } from '../support/processes.ts';

/** Marks of other tests, and of daemons that run on this machine, begin otherwise. */
const newOwner = (): string => randomBytes(6).toString('hex');

/** A process with this mark, that says when it runs. `stubborn` does not end when it is asked to. */
async function marked(mark: string | undefined, stubborn = false): Promise<ChildProcess> {
  const script = `${stubborn ? "process.on('SIGTERM', () => {});" : ''}setInterval(() => {}, 1000); console.log('runs')`;
  const env = { PATH: process.env.PATH, ...(mark === undefined ? {} : { [RUN_VARIABLE]: mark }) };
  const child = spawn(process.execPath, ['-e', script], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  atEnd(() => signal(child.pid ?? 0, 'SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

const ended = (child: ChildProcess): string | null => child.signalCode;

describe.skipIf(process.platform !== 'linux')('Servers of a daemon that was killed', () => {
  it('are found by the mark of the data directory, whichever run they are of', async () => {
    const owner = newOwner();
    const [one, two] = [await marked(`${owner}:run-1`), await marked(`${owner}:run-2`)];
    await marked(`${owner}:now`);
    const found = findOrphans(owner, 'now').sort((a, b) => a.run.localeCompare(b.run));
    expect(found).toEqual([
      { pid: one.pid, run: 'run-1' },
      { pid: two.pid, run: 'run-2' },
    ]);
  });

  it('are never those of another directory, of this run, or without a mark', async () => {
    const owner = newOwner();
    const others = [
      await marked(`${owner}x:run-1`),
      await marked(`x${owner}:run-1`),
      await marked(`${owner}:now`),
      await marked(undefined),
    ];
    expect(findOrphans(owner, 'now')).toEqual([]);
    expect(await endOrphans(owner, 'now')).toBe(0);
    for (const { pid } of others) expect(isAlive(pid ?? 0)).toBe(true);
  });

  it('are ended, those that do not listen by force, and none is left when it is said so', async () => {
    const owner = newOwner();
    const willing = await marked(`${owner}:old`);
    const stubborn = await marked(`${owner}:old`, true);
    const ours = await marked(`${owner}:now`);
    expect(await endOrphans(owner, 'now', 300)).toBe(2);
    expect(findOrphans(owner, 'now')).toEqual([]);
    if (stubborn.signalCode === null) await once(stubborn, 'exit');
    if (willing.signalCode === null) await once(willing, 'exit');
    expect([ended(willing), ended(stubborn)]).toEqual(['SIGTERM', 'SIGKILL']);
    expect(isAlive(ours.pid ?? 0)).toBe(true);
  });

  it('are none where there are none', async () => {
    expect(await endOrphans(newOwner(), 'now')).toBe(0);
  });
});
