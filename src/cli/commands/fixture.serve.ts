import { closeSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { kill, pid, ppid, stdin } from 'node:process';
import type { Command, Context, Piece } from '../command.ts';
import { CommandError, exitCode, usedWrongly } from '../failure.ts';
import { count, type Options, text } from '../options.ts';

const ways = ['strict', 'arguments', 'tool'] as const;

async function read(file: string) {
  const { parseFixture } = await import('../../replay/fixture/format.ts');
  try {
    const content = readFileSync(file, 'utf8');
    return { content, fixture: parseFixture(content) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new CommandError(`There is no file ${file}.`, { next: ['fixture export <server> <file>'] });
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${file} cannot be served: ${why}.`, { next: ['fixture export <server> <file>'] });
  }
}
type Read = Awaited<ReturnType<typeof read>>;

async function settingsOf(options: Options) {
  const { readClock } = await import('../../replay/fixture/clock.ts');
  const clock = readClock(text(options, 'clock') ?? 'real');
  if (clock === null)
    throw usedWrongly('--clock is real, instant, or scaled:N (N times as fast).', 'fixture serve --help');
  return { clock, way: ways.find((way) => way === text(options, 'match')) ?? 'arguments' };
}

/** What a daemon marks its children with, or else the process that started this one. */
const starterOf = ({ env }: Context): string => env.WATCHKEEPER_RUN ?? String(ppid);

async function* overStdio(
  context: Context,
  file: string,
  { fixture, content }: Read,
  options: Options,
): AsyncGenerator<Piece, number> {
  const { playOverStdio } = await import('../../replay/fixture/stdio.ts');
  const { forgetOldCounts, nextLife, stateFileFor } = await import('../../replay/fixture/lives.ts');
  const given = text(options, 'state');
  const chosen = count(options, 'life');
  const state = given === undefined ? stateFileFor(file, starterOf(context)) : resolve(context.cwd, given);
  const life = chosen === undefined ? nextLife(state, content) : chosen - 1;
  if (given === undefined) forgetOldCounts(state, context.now());
  const pieces: Piece[] = [];
  let wake = (): void => {};
  let ended: { exitCode: number | null; signal: string | null } | null = null;
  const put = (piece: Piece): void => {
    pieces.push(piece);
    wake();
  };
  playOverStdio({
    fixture,
    life,
    ...(await settingsOf(options)),
    input: stdin,
    // With `--json` too, apart from lines that are no JSON.
    out: (said) => put({ text: () => said, ...(context.json ? { json: parsed(said) } : {}) }),
    err: (said) => put({ warning: said }),
    closePipe: (pipe) => closeSync(pipe === 'stdin' ? 0 : 1),
    end: (how) => {
      ended = how;
      wake();
    },
  });
  for (;;) {
    for (const piece of pieces.splice(0)) yield piece;
    if (pieces.length > 0) continue;
    const how = ended as { exitCode: number | null; signal: string | null } | null;
    if (how?.signal != null) kill(pid, how.signal);
    if (how !== null) return how.exitCode ?? exitCode.failed;
    await new Promise<void>((resolved) => {
      wake = resolved;
    });
  }
}

async function* overHttp(
  context: Context,
  port: number,
  { fixture }: Read,
  options: Options,
): AsyncGenerator<Piece, number> {
  const { serveOverHttp } = await import('../../replay/fixture/http.ts');
  const server = await serveOverHttp({ fixture, port, ...(await settingsOf(options)) }).catch((error: unknown) => {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    throw new CommandError(`Port ${port} cannot be listened on (${code}).`, {
      next: ['fixture serve <file> --http 0'],
    });
  });
  const ready = { url: server.url, port: server.port, server: fixture.server, lives: fixture.lives.length };
  yield { json: ready, text: () => `fixture of ${fixture.server} ready ${server.url}\n` };
  const interrupted = context.untilInterrupted();
  if (!interrupted.aborted)
    await new Promise<void>((resolved) => interrupted.addEventListener('abort', () => resolved(), { once: true }));
  await server.close();
  return exitCode.done;
}

export const fixtureServe: Command = {
  description: {
    name: 'fixture serve',
    group: 'Log',
    summary: 'be the recorded server again, failures included: over stdio, or over HTTP',
    arguments: [{ name: '<file>', about: 'made by "fixture export"' }],
    options: [
      { flags: '--http <port>', about: 'over HTTP on the loopback address; 0: any free port' },
      { flags: '--clock <clock>', about: 'real (default), scaled:N (N times as fast) or instant' },
      { flags: '--match <way>', about: 'how calls are found: strict, arguments (default) or tool', choices: ways },
      { flags: '--state <file>', about: 'over stdio: where the lives that were played are counted' },
      { flags: '--life <n>', about: 'over stdio: play this life, counted from 1' },
    ],
    examples: [
      {
        line: 'fixture serve github.fixture.json',
        about: 'as the command of a server entry; each start plays the next life',
      },
      { line: 'fixture serve github.fixture.json --http 0 --clock instant', about: 'without the waiting' },
    ],
  },
  async run(context, { positional: [given = ''] }, options) {
    const file = resolve(context.cwd, given);
    const port = text(options, 'http');
    if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535))
      throw usedWrongly(`--http ${port}: not a port from 0 to 65535.`);
    await settingsOf(options);
    const found = await read(file);
    return {
      kind: 'stream',
      pieces:
        port === undefined ? overStdio(context, file, found, options) : overHttp(context, Number(port), found, options),
    };
  },
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
