import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { parseCommandLine } from '../../src/cli/program.ts';
import { codeIn, page, pages } from './pages.ts';

/** Words of a shell line up to the end of its first command: quotes are taken off, a comment ends it. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [, single, double, plain] of line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)) {
    const word = single ?? double ?? plain ?? '';
    if (plain !== undefined && /^(?:#|\||\|\||&&|;|<|>|>>|2>&1)$/.test(plain)) break;
    if (plain?.startsWith('#')) break;
    words.push(word);
  }
  return words;
}

/** Every command line of watchkeeper in a piece of code, as words without the program's name. */
function commandLinesIn(code: string): string[][] {
  return [...code.matchAll(/(?:^|[\s;&|(])watchkeeper +(?=[a-z-])/g)]
    .map(({ index, 0: found }) => wordsOf(code.slice(index + found.length).replace(/\)+(?:["\s].*)?$/, '')))
    .filter(([first]) => first !== 'ready');
}

const mentioned = pages().flatMap(({ name, text }) =>
  codeIn(text)
    .flatMap(commandLinesIn)
    .map((words): [string, string, string[]] => [name, words.join(' '), words]),
);

describe('the pages', () => {
  it('speak of commands at all', () => {
    expect(mentioned.length).toBeGreaterThan(50);
  });

  it.each(mentioned)('%s: watchkeeper %s', (_page, _line, words) => {
    const parsed = parseCommandLine(words, commands, { version: '0', width: 100 });
    // Mentioned by its name alone, a command may lack what it needs.
    const missing = parsed.kind === 'wrong' && /^Missing required argument/.test(parsed.message);
    const allowed = parsed.kind === 'run' || (parsed.kind === 'help' && parsed.wanted) || missing;
    expect(allowed, parsed.kind === 'wrong' ? parsed.message : parsed.kind).toBe(true);
  });

  it('name every command in docs/cli.md', () => {
    const text = page('docs/cli.md');
    const isNamed = (name: string): boolean => new RegExp(`\`${name.replace(' ', '[^`]*')}[ \`|]`).test(text);
    expect(commands.map(({ description }) => description.name).filter((name) => !isNamed(name))).toEqual([]);
  });
});

describe('command lines are found', () => {
  it.each<[string, string[][]]>([
    ['watchkeeper status --watch   # all servers', [['status', '--watch']]],
    ['watchkeeper down && watchkeeper up --detach', [['down'], ['up', '--detach']]],
    ['TOKEN=$(watchkeeper token)', [['token']]],
    ['curl -H "Authorization: Bearer $(watchkeeper token)" http://127.0.0.1', [['token']]],
    ['watchkeeper call a.b < /dev/null', [['call', 'a.b']]],
    ["watchkeeper add x --env 'A=${B}' -- npx -y z", [['add', 'x', '--env', 'A=${B}', '--', 'npx', '-y', 'z']]],
    ['watchkeeper ready http://127.0.0.1:17987 (4 servers)', []],
    ['~/.local/share/watchkeeper', []],
  ])('in %s', (code, found) => {
    expect(commandLinesIn(code)).toEqual(found);
  });
});
