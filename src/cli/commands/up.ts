import { existsSync } from 'node:fs';
import type { DaemonFile } from '../../api/endpoint.ts';
import type { ReadyFacts } from '../../daemon.ts';
import type { Command, Context, Piece } from '../command.ts';
import { startDetached } from '../daemon.detach.ts';
import { CommandError, exitCode, usedWrongly } from '../failure.ts';
import { flag, type Options, text } from '../options.ts';

const readyLine = (url: string, servers: number): string => `watchkeeper ready ${url} (${servers} servers)\n`;

/** Exactly what stands in `daemon.json`. */
const daemonFacts = ({ pid, port, url, socket, version, startedAt }: DaemonFile): DaemonFile => ({
  pid,
  port,
  url,
  socket,
  version,
  startedAt,
});

const firstSteps = (configFile: string): string[] => [
  `There is no configuration yet: ${configFile}`,
  'Add a server: watchkeeper add <name> -- <command> [args…]',
];

function portOf(options: Options): number | undefined {
  const given = text(options, 'port');
  if (given === undefined) return undefined;
  const port = /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN;
  if (port <= 65_535) return port;
  throw usedWrongly(`--port ${given}: not a port; give 0 (any free one) to 65535.`, 'up --port 0');
}

function hostOf(options: Options): string | undefined {
  const given = text(options, 'host');
  if (given !== undefined && !/^[\w.:%[\]-]+$/.test(given))
    throw usedWrongly(
      `--host ${JSON.stringify(given)}: not an address; give one such as 127.0.0.1, or leave it out.`,
      'up',
    );
  return given;
}

async function* foreground(context: Context, options: Options): AsyncGenerator<Piece, number> {
  const { files, json, quiet } = context;
  const port = portOf(options);
  const host = hostOf(options);
  // What asks for an end must find somebody listening, however long loading takes.
  const interrupted = context.untilInterrupted();
  const { DaemonStartError, runDaemon } = await import('../../daemon.ts');
  if (interrupted.aborted) return exitCode.done;
  let announce: (facts: ReadyFacts) => void = () => {};
  const ready = new Promise<ReadyFacts>((resolve) => {
    announce = resolve;
  });
  const ended = runDaemon({
    configFile: files.configOrigin === 'chosen' ? files.configFile : undefined,
    dataDir: files.dataDir,
    host,
    port,
    allowRemote: flag(options, 'allowRemote'),
    json,
    quiet,
    onReady: announce,
    signal: interrupted,
  }).catch((error: unknown) => {
    throw error instanceof DaemonStartError ? new CommandError(error.message, { next: error.next }) : error;
  });
  const first = await Promise.race([ready, ended]);
  if (typeof first === 'number') return first;
  yield {
    json: daemonFacts(first),
    text: () => readyLine(first.url, first.servers),
    notes: first.configExists ? [] : firstSteps(first.configFile),
  };
  return await ended;
}

export const up: Command = {
  description: {
    name: 'up',
    group: 'Daemon',
    summary: 'start the daemon',
    options: [
      {
        flags: '--detach',
        about: 'in the background: return when it is ready; its log goes to daemon.log in the data directory',
      },
      { flags: '--port <port>', about: 'HTTP port, 0 for any free one (WATCHKEEPER_PORT; 17987)' },
      { flags: '--host <address>', about: 'HTTP address (127.0.0.1)' },
      { flags: '--allow-remote', about: 'needed for an address that other machines can reach' },
    ],
    examples: [
      { line: 'up', about: 'in the foreground; Ctrl-C ends it and all its servers' },
      {
        line: 'up --detach --port 0 --json',
        about: 'in the background, with the facts of daemon.json as one JSON object',
      },
    ],
  },
  async run(context, _words, options) {
    if (!flag(options, 'detach')) return { kind: 'stream', pieces: foreground(context, options) };
    const port = portOf(options);
    const host = hostOf(options);
    const { daemon, health, log } = await startDetached(context, [
      ...(port === undefined ? [] : ['--port', String(port)]),
      ...(host === undefined ? [] : ['--host', host]),
      ...(flag(options, 'allowRemote') ? ['--allow-remote'] : []),
    ]);
    const { configFile } = context.files;
    return {
      kind: 'answer',
      json: daemonFacts(daemon),
      text: () => readyLine(daemon.url, health.servers?.length ?? 0),
      notes: [`Its log: ${log}`, ...(existsSync(configFile) ? [] : firstSteps(configFile))],
    };
  },
};
