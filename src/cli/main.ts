/** The program: the only file that prints or ends the process. */
import { keysOf } from './keys.ts';
import { askOn, linesOf } from './prompt.ts';
import { runCommandLine } from './run.ts';

const interrupt = new AbortController();
let catching = false;

/** A reader that goes away (`| head`) ends what goes on, without a word. */
function printTo(stream: NodeJS.WriteStream): (text: string) => void {
  let open = true;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
    open = false;
    interrupt.abort();
  });
  return (text) => {
    if (open && text !== '') stream.write(text);
  };
}

function untilInterrupted(): AbortSignal {
  if (!catching) {
    catching = true;
    // The second Ctrl-C ends the process as usual.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort());
  }
  return interrupt.signal;
}

const drained = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });

async function main(): Promise<void> {
  const code = await runCommandLine({
    argv: process.argv.slice(2),
    env: process.env,
    cwd: process.cwd(),
    streams: process,
    self: { execPath: process.execPath, execArgv: process.execArgv, script: process.argv[1] ?? '' },
    now: Date.now,
    out: printTo(process.stdout),
    err: printTo(process.stderr),
    ask: (question) => askOn(process.stdin, process.stderr, question),
    keys: () => keysOf(process.stdin),
    lines: (signal) => linesOf(process.stdin, signal),
    untilInterrupted,
  });
  await Promise.all([drained(process.stdout), drained(process.stderr)]);
  process.exit(code);
}

void main();
