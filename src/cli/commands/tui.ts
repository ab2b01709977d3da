import type { Command, Context, Piece } from '../command.ts';
import { daemonUp } from '../daemon.up.ts';
import { CommandError, exitCode } from '../failure.ts';
import { flag } from '../options.ts';

/** What stands in `watchkeeper.json` and in the environment, as the daemon reads it. */
async function settingsOf({ env, files }: Context) {
  const { readText } = await import('../../config/files.ts');
  const { loadSettings } = await import('../../config/settings.ts');
  const { isTrusted } = await import('../../config/trust.ts');
  const { homeFolder } = await import('../../config/home.ts');
  const trusted = files.configOrigin === 'own' || (await isTrusted(files.configFile, homeFolder(env), files.dataDir));
  const text = trusted ? await readText(files.settingsFile).catch(() => null) : null;
  return loadSettings({ env, text }).settings;
}

async function* view(
  context: Context,
  words: readonly string[],
  bell: boolean,
  screen: NonNullable<Context['screen']>,
): AsyncGenerator<Piece, number> {
  const { api, env, files, terminal, now } = context;
  await daemonUp(context);
  const settings = await settingsOf(context);
  const { browserCommand, openable, openBrowser } = await import('../browser.ts');
  const { runView } = await import('../../tui/shell.ts');
  await runView({
    api,
    screen: screen(),
    colored: terminal.color,
    around: {
      configFile: files.configFile,
      callback: `http://localhost:${settings.oauth.callbackPort}/callback`,
    },
    bell: bell && settings.tui.bell,
    words,
    now,
    signal: context.untilInterrupted(),
    async openBrowser(url) {
      const command = openable(url) === null ? browserCommand(env, process.platform, true) : null;
      return command !== null && (await openBrowser(command, url));
    },
    startDaemon: () => daemonUp(context),
  });
  yield* [];
  return exitCode.done;
}

export const tui: Command = {
  description: {
    name: 'tui',
    alias: '/mcp',
    group: 'Servers',
    summary: 'the servers on the whole terminal: look, add, decide about calls',
    arguments: [{ name: '[words...]', about: 'add: begin with adding a server; a name: begin with that server' }],
    options: [{ flags: '--no-bell', about: 'do not ring when a call waits for you (setting tui.bell)' }],
    examples: [
      { line: 'tui', about: 'all servers; starts the daemon if none runs; ? shows the keys' },
      { line: '/mcp add', about: 'add a server: typed in, or pasted from its README' },
      { line: '/mcp memory', about: 'one server: its tools and grants, its past, its stderr' },
    ],
  },
  async run(context, { positional }, options) {
    if (context.screen === null || context.json)
      throw new CommandError(
        context.json
          ? 'The terminal view has nothing to print as JSON.'
          : 'The terminal view needs a terminal and somebody at it: stdin and stdout must be one, CI must not be set.',
        { exit: exitCode.usedWrongly, next: ['status', 'approvals'] },
      );
    return { kind: 'stream', pieces: view(context, positional, flag(options, 'bell'), context.screen) };
  },
};
