import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { parseCommandLine } from '../../src/cli/program.ts';

const parse = (...argv: string[]) => parseCommandLine(argv, commands, { version: '1.2.3', width: undefined });

const ran = (...argv: string[]) => {
  const parsed = parse(...argv);
  if (parsed.kind !== 'run') throw new Error(JSON.stringify(parsed));
  const { command, words, options, globals } = parsed;
  return { name: command.description.name, ...words, options, globals };
};

describe('the command line', () => {
  it.each<[string, readonly string[]]>([
    ['/mcp', []],
    ['/mcp add', ['add']],
    ['--data /x /mcp github', ['github']],
  ])('knows the terminal as %s too', (line, words) => {
    const parsed = parseCommandLine(line.split(' '), commands, { version: '0', width: 80 });
    expect(parsed).toMatchObject({
      kind: 'run',
      command: { description: { name: 'tui' } },
      words: { positional: words },
    });
  });

  it('names exactly these commands', () => {
    expect(commands.map(({ description }) => description.name)).toEqual([
      'up',
      'down',
      'token',
      'tui',
      'version',
      'status',
      'doctor',
      'add',
      'remove',
      'enable',
      'disable',
      'reconnect',
      'record',
      'test',
      'login',
      'logout',
      'tools',
      'call',
      'mcp',
      'approvals',
      'approve',
      'deny',
      'allow',
      'changes',
      'ledger',
      'ledger show',
      'ledger close',
      'clients',
      'connect',
      'sync',
      'disconnect',
      'import',
      'log',
      'history',
      'why',
      'bundle',
      'fixture export',
      'fixture serve',
      'replay',
      'ledger verify',
      'config check',
      'config path',
      'config schema',
      'config fix',
      'config trust',
      'rebuild',
      'backup',
    ]);
  });

  it.each([
    ['before the command', ['--json', '--quiet', '--config', 'c', '--data', 'd', 'status', 'memory']],
    ['after it', ['status', 'memory', '--json', '--quiet', '--config', 'c', '--data', 'd']],
    ['on both sides', ['--data=d', '--json', 'status', '--config=c', 'memory', '--quiet']],
  ])('takes --config, --data, --json and --quiet %s', (_, argv) => {
    expect(ran(...argv)).toMatchObject({
      name: 'status',
      positional: ['memory'],
      globals: { config: 'c', data: 'd', json: true, quiet: true },
    });
  });

  it('takes them after a command of two words', () => {
    expect(ran('config', 'check', '--json')).toMatchObject({ name: 'config check', globals: { json: true } });
    expect(ran('--json', 'config', 'check')).toMatchObject({ name: 'config check', globals: { json: true } });
  });

  it('leaves everything after -- to the server', () => {
    expect(
      ran('add', '--env', 'A=1', '--env', 'B=2', 'x', '--json', '--', 'npx', '-y', 'pkg', '--json', '--', '--env'),
    ).toMatchObject({
      positional: ['x'],
      command: ['npx', '-y', 'pkg', '--json', '--', '--env'],
      options: { env: ['A=1', 'B=2'] },
      globals: { json: true },
    });
    expect(ran('add', 'x', '--', 'npx', '--data', 'd').globals.data).toBeUndefined();
  });

  it('takes words of a call that follow --', () => {
    expect(ran('call', 'memory.search', '--', '--query=ships')).toMatchObject({
      positional: ['memory.search', '--query=ships'],
    });
  });

  it.each([
    ['an unknown command', ['stauts'], /^There is no command "stauts"\. Did you mean "status"\?$/],
    [
      'an unknown second word',
      ['config', 'chek'],
      /^There is no command "config chek"\. Did you mean "config check" or "config schema"\?$/,
    ],
    ['a missing word', ['enable'], /^Missing required argument 'server'\.$/],
    ['a word too many', ['down', 'now'], /^Too many arguments for 'down'/],
    ['an unknown option', ['status', '--wach'], /^Unknown option '--wach' \(Did you mean --watch\?\)$/],
    ['an option without its value', ['status', '--at'], /^Option '--at <T>' argument missing\.$/],
    ['a value that is no choice', ['call', 'x', '--mode', 'yolo'], /Allowed choices are deny, ask, allow-all/],
  ])('%s is used wrongly', (_, argv, message) => {
    expect(parse(...argv)).toMatchObject({ kind: 'wrong', message: expect.stringMatching(message) });
  });

  it.each([
    ['no command', []],
    ['half of a command', ['config']],
  ])('%s shows help that was not asked for', (_, argv) => {
    expect(parse(...argv)).toMatchObject({
      kind: 'help',
      wanted: false,
      text: expect.stringContaining('Usage: watchkeeper'),
    });
  });

  it('an error names the help of the command it is about', () => {
    expect(parse('config', 'fix', '--yse')).toMatchObject({ next: ['config fix --help'] });
    expect(parse('--nope')).toMatchObject({ next: ['--help'] });
  });

  it('help lists every command, and each has a summary and an example', () => {
    const help = parse('--help');
    expect(help).toMatchObject({ kind: 'help', text: expect.stringContaining('Usage: watchkeeper') });
    for (const { description } of commands) {
      const [group = ''] = description.name.split(' ');
      expect(help.kind === 'help' && help.text).toMatch(new RegExp(`^  ${group}\\b`, 'm'));
      const own = parse(...description.name.split(' '), '--help');
      expect(own.kind === 'help' && own.text).toContain(description.summary.split(' ')[0]);
      expect(own.kind === 'help' && own.text).toContain('Examples:');
    }
  });

  it('every example can be parsed', () => {
    for (const { description } of commands) {
      for (const { line } of description.examples) {
        const argv = (line.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^(['"])(.*)\1$/, '$2'));
        const upTo = argv.indexOf('>');
        expect(parse(...(upTo < 0 ? argv : argv.slice(0, upTo)))).toMatchObject({
          kind: 'run',
          command: { description },
        });
      }
    }
  });

  it('prints the version', () => {
    expect(parse('--version')).toEqual({ kind: 'help', text: 'watchkeeper 1.2.3\n', wanted: true });
  });
});
