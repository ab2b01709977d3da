import { once } from 'node:events';
import { stdin } from 'node:process';
import { createInterface } from 'node:readline';
import { mcpExchange } from '../../api/mcp.ts';
import { mustKnow } from '../ask.daemon.ts';
import type { Command, Context, Piece } from '../command.ts';
import { COMING_MS, daemonUp } from '../daemon.up.ts';
import { exitCode } from '../failure.ts';
import { Bridge } from '../mcp.bridge.ts';
import { text } from '../options.ts';

/** How long answers may take after the client closed its end, in ms. */
const LAST_ANSWERS_MS = 1_000;

async function* serve(
  context: Context,
  server: string | undefined,
  mode: string | undefined,
  client: string | undefined,
): AsyncGenerator<Piece, number> {
  // Read from the start: a client may speak before the daemon is up.
  const lines = createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY });
  const waiting: string[] = [];
  const said: string[] = [];
  let wake: () => void = () => {};
  let ended = false;
  let bridge: Bridge | null = null;
  lines.on('line', (line) => {
    if (bridge) void bridge.receive(line);
    else waiting.push(line);
  });
  const closed = once(lines, 'close');
  await daemonUp(context);
  if (server !== undefined) await mustKnow(context.api, server, 'mcp');
  bridge = new Bridge({
    path: server === undefined ? '/mcp' : `/mcp/${encodeURIComponent(server)}`,
    headers: {
      ...(mode === undefined ? {} : { 'watchkeeper-permission-mode': mode }),
      ...(client === undefined ? {} : { 'watchkeeper-client': client }),
    },
    exchange: mcpExchange(context.files.dataDir),
    emit: (line) => {
      said.push(line);
      wake();
    },
    patienceMs: COMING_MS,
  });
  const interrupted = context.untilInterrupted();
  interrupted.addEventListener('abort', () => wake(), { once: true });
  const open = bridge;
  for (const line of waiting.splice(0)) void open.receive(line);
  // What was asked before the end of the input is still answered, within reason.
  void closed.then(async () => {
    await open.quiet(LAST_ANSWERS_MS);
    ended = true;
    wake();
  });
  while (!interrupted.aborted && !(ended && said.length === 0)) {
    const lineup = said.splice(0);
    // The text is JSON already, whatever `--json` says.
    for (const line of lineup) yield { json: JSON.parse(line), text: () => `${line}\n` };
    if (lineup.length === 0)
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (said.length > 0 || ended || interrupted.aborted) resolve();
      });
  }
  await open.close();
  return exitCode.done;
}

export const mcp: Command = {
  description: {
    name: 'mcp',
    group: 'Tools and calls',
    summary: 'an MCP server over stdio: all servers, or one, through the daemon',
    arguments: [{ name: '[server]', about: 'only this server, under its own names' }],
    options: [
      {
        flags: '--mode <mode>',
        about: 'permission mode of every call of this client',
        choices: ['deny', 'ask', 'allow-all'],
      },
      { flags: '--client <name>', about: 'speak for this client, with what its connection allows (see clients)' },
    ],
    examples: [
      { line: 'mcp', about: 'for clients that can only start commands; starts the daemon if none runs' },
      { line: 'mcp memory', about: 'one server alone' },
    ],
  },
  run: async (context, { positional: [server] }, options) => ({
    kind: 'stream',
    pieces: serve(context, server, text(options, 'mode'), text(options, 'client')),
  }),
};
