import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAlive, isSameProcess } from '../../src/cli/process.identity.ts';
import { type Fake, fakeDaemon } from './fake.daemon.ts';

const started: number[] = [];

/** A process that only waits, and ends when it is told to. */
async function sleeper(): Promise<ChildProcess & { pid: number }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log("up")'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
  started.push(child.pid as number);
  return child as ChildProcess & { pid: number };
}

let fake: Fake;
beforeEach(async () => {
  fake = await fakeDaemon();
});
afterEach(async () => {
  for (const pid of started.splice(0)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  await fake.close();
});

const claim = async (pid: number, more: Record<string, unknown> = {}): Promise<void> => {
  const file = join(fake.dataDir, 'daemon.json');
  const present = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...present, pid, startedAt: new Date().toISOString(), ...more }));
};

describe('the process of a daemon', () => {
  it('is told from a later one with the same number', async () => {
    const { pid } = await sleeper();
    expect(isSameProcess(pid, new Date().toISOString())).toBe(true);
    expect(isSameProcess(pid, new Date(Date.now() - 60_000).toISOString())).toBe(false);
  });

  it('that has ended is not alive', async () => {
    const child = await sleeper();
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    expect(isAlive(child.pid)).toBe(false);
    expect(isSameProcess(child.pid, new Date().toISOString())).toBe(false);
  });
});

describe('down', () => {
  it('asks the daemon and waits until it is gone', async () => {
    const { pid } = await sleeper();
    await claim(pid);
    fake.routes['POST /v1/shutdown'] = () => {
      setTimeout(() => process.kill(pid, 'SIGTERM'), 100);
      return { ok: true };
    };
    expect(await fake.run('down')).toMatchObject({ exit: 0, out: `The daemon (pid ${pid}) has ended.\n` });
    expect(isAlive(pid)).toBe(false);
  });

  it('signals a daemon that does not answer', async () => {
    const { pid } = await sleeper();
    await claim(pid, { url: 'http://127.0.0.1:9', port: 9 });
    expect((await fake.run('down --json')).json).toEqual({ ok: true, pid, by: 'signal' });
    expect(isAlive(pid)).toBe(false);
  });

  it('never signals a process that is not the daemon', async () => {
    const { pid } = await sleeper();
    await claim(pid, { url: 'http://127.0.0.1:9', port: 9, startedAt: '2026-01-01T00:00:00.000Z' });
    expect(await fake.run('down')).toMatchObject({ exit: 3, out: '' });
    expect(isAlive(pid)).toBe(true);
  });
});

describe('up --detach', () => {
  /** Stands for the program: says what it was given, and becomes the daemon of the data directory. */
  const program = (body: string) => `
    import { writeFileSync, readFileSync } from 'node:fs';
    import { createServer } from 'node:http';
    const data = process.env.WATCHKEEPER_DATA;
    writeFileSync(data + '/argv.json', JSON.stringify(process.argv.slice(2)));
    ${body}`;
  const serves = `
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ status: 'ok', version: '9', ready: true, servers: [{}, {}] }));
    });
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      const facts = { pid: process.pid, port, url: 'http://127.0.0.1:' + port, socket: null, version: '9', startedAt: new Date().toISOString() };
      writeFileSync(data + '/daemon.json', JSON.stringify({ ...facts, more: 1 }));
      console.error('{"msg":"listening"}');
    });`;

  let idle: Fake;
  beforeEach(async () => {
    idle = await fakeDaemon({}, { running: false });
  });
  afterEach(() => idle.close());

  const upWith = async (body: string, line: string) => {
    const script = join(idle.folder, 'program.mjs');
    await writeFile(script, program(body));
    return idle.run(line, { script });
  };

  it('prints the ready line when the daemon answers, and leaves it running', async () => {
    const { exit, out, err } = await upWith(serves, 'up --detach --port 0');
    const facts = JSON.parse(await readFile(join(idle.dataDir, 'daemon.json'), 'utf8'));
    started.push(facts.pid);
    expect([exit, out]).toEqual([0, `watchkeeper ready ${facts.url} (2 servers)\n`]);
    expect(err).toContain(`There is no configuration yet: ${idle.configFile}`);
    expect(err).toContain('watchkeeper add <name> -- <command> [args…]');
    expect(isAlive(facts.pid)).toBe(true);
    expect(JSON.parse(await readFile(join(idle.dataDir, 'argv.json'), 'utf8'))).toEqual(['up', '--port', '0']);
    const log = join(idle.dataDir, 'daemon.log');
    expect((await stat(log)).mode & 0o777).toBe(0o600);
    expect(await readFile(log, 'utf8')).toContain('listening');
  });

  it('hands on what was typed, whole, and what the environment does not say already', async () => {
    const { exit } = await upWith(serves, 'up --detach --config x/mcp.json');
    started.push(JSON.parse(await readFile(join(idle.dataDir, 'daemon.json'), 'utf8')).pid);
    expect(exit).toBe(0);
    expect(JSON.parse(await readFile(join(idle.dataDir, 'argv.json'), 'utf8'))).toEqual([
      'up',
      '--config',
      resolve('x/mcp.json'),
    ]);
  });

  it('prints the facts of daemon.json with --json', async () => {
    const { json } = await upWith(serves, 'up --detach --json');
    started.push(json.pid);
    expect(json).toEqual({
      pid: expect.any(Number),
      port: expect.any(Number),
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      socket: null,
      version: '9',
      startedAt: expect.any(String),
    });
  });

  it('shows the end of the log when the daemon does not come up', async () => {
    await writeFile(join(idle.dataDir, 'daemon.log'), 'of an earlier start\n');
    const { exit, out, err } = await upWith(`console.error('port 17987 is taken'); process.exit(1);`, 'up --detach');
    expect([exit, out]).toEqual([1, '']);
    expect(err).toContain('it ended with exit code 1. It said:\nport 17987 is taken');
    expect(err).not.toContain('earlier');
  });

  it('says it in the words and with the hints of the daemon when that knew why', async () => {
    const { exit, err } = await upWith(
      `console.error('{"msg":"a line of its log"}\\nwatchkeeper: Port 1 is taken.\\n  watchkeeper up --port 0'); process.exit(1);`,
      'up --detach',
    );
    expect([exit, err]).toEqual([
      1,
      'watchkeeper: The daemon did not start: Port 1 is taken.\n  watchkeeper up --port 0\n',
    ]);
  });

  it('names a data directory that cannot be used, and starts nothing', async () => {
    await writeFile(join(idle.folder, 'file'), '');
    const { exit, err } = await idle.run(['up', '--detach', '--data', join(idle.folder, 'file')], { script: 'none' });
    expect([exit, err]).toEqual([
      1,
      `watchkeeper: ${join(idle.folder, 'file')} is to be the data directory, but is a file.\n  watchkeeper up --data <directory>\n`,
    ]);
  });

  it('says so when one runs already', async () => {
    const { exit, err } = await fake.run('up --detach', { script: 'never started' });
    expect(exit).toBe(1);
    expect(err).toContain(`A daemon runs already for ${fake.dataDir} (pid ${process.pid}`);
  });

  it.each(['', ' ', 'http://127.0.0.1', 'a b'])('host %j is used wrongly', async (host) => {
    for (const how of [['--detach'], []])
      expect(await idle.run(['up', ...how, `--host=${host}`])).toMatchObject({
        exit: 2,
        err: `watchkeeper: --host ${JSON.stringify(host)}: not an address; give one such as 127.0.0.1, or leave it out.\n  watchkeeper up\n`,
      });
  });

  it.each(['-1', '65536', 'http', '1e3'])('port %s is used wrongly', async (port) => {
    expect(await idle.run(['up', '--detach', `--port=${port}`])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('not a port'),
    });
  });
});
