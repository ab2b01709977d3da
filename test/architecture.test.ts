/** The directions that ARCHITECTURE.md draws, and what keeps the core pure. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../src/root.ts';
import { cyclesOf, type SourceFile, sourceFiles } from './support/imports.ts';

const files = sourceFiles();
const inFolder = (folder: string) => files.filter(({ file }) => file.startsWith(`src/${folder}`));
const fits = (target: string, patterns: readonly (string | RegExp)[]): boolean =>
  patterns.some((pattern) =>
    typeof pattern === 'string' ? target === pattern || target.startsWith(`${pattern}/`) : pattern.test(target),
  );

/** Folders and what each may import of `src`. Types may always come from `src/events` and from a port. */
const directions: readonly {
  from: string;
  may: readonly (string | RegExp)[];
  but?: readonly string[];
  because: string;
}[] = [
  { from: 'events/', may: ['src/events'], because: 'what can happen knows nobody' },
  {
    from: 'projections/',
    may: ['src/events', 'src/projections/projection.ts'],
    but: ['src/projections/views.ts'],
    because: 'views see facts, and no view reads another',
  },
  { from: 'config/', may: ['src/config', 'src/events/shapes.ts'], because: 'files are read the same whoever asks' },
  {
    from: 'mcp/',
    may: ['src/mcp', 'src/events', 'src/config/entry.ts'],
    because: 'the wire knows entries and shapes of failures',
  },
  {
    from: 'actors/',
    may: ['src/actors', 'src/events', 'src/mcp/connection.ts', 'src/config/entry.ts'],
    because: 'who decides sees the world through one small interface',
  },
  { from: 'replay/', may: ['src/replay', 'src/actors', 'src/events'], because: 'the past is folded by the same rules' },
  {
    from: 'http/',
    may: ['src/http', 'src/events', 'src/config/entry.ts', 'src/root.ts'],
    because: 'routes ask a port and hold no rule',
  },
  {
    from: 'api/',
    may: ['src/api', /^src\/http\/(contract|problem)\.ts$/, 'src/events'],
    because: 'a client knows the contract and nothing of the daemon',
  },
  {
    from: 'keeper/',
    may: [
      'src/keeper',
      'src/actors',
      'src/projections',
      'src/events',
      'src/mcp',
      'src/config',
      'src/http',
      'src/replay',
    ],
    because: 'it joins what HTTP asks with who knows',
  },
  {
    from: 'cli/',
    may: [
      'src/cli',
      'src/api',
      'src/config',
      'src/root.ts',
      'src/http/contract.ts',
      'src/daemon.ts',
      /^src\/daemon\/(owner|token)\.ts$/,
      'src/events',
      /^src\/projections\/\w+\.projection\.ts$/,
      /^src\/(keeper\/rebuild|replay\/.*)\.ts$/,
    ],
    because: 'commands go through the daemon; some also read the files when none runs',
  },
];

/** Files whose answers follow from their arguments alone. */
const pure = [
  /^src\/events\/(define|shapes|catalogue|describe|envelope|upcast|.*\.events)\.ts$/,
  /^src\/actors\/.*\.(machine|decide|state|commands|rules)\.ts$/,
  /^src\/actors\/(call\/gate|server\/backoff|head|refusal|rules|journal|allowlist\/entry)\.ts$/,
  /^src\/mcp\/(canonical|naming|endpoint\.naming|cap|globs|utf8|tools|schema|instructions|failure|redact|message|sse)\.ts$/,
  /^src\/config\/(expand|parse|mask|diff|names|allow-file|resolve|entry|raw|secrets)\.ts$/,
  /^src\/http\/(contract|problem|mode|moment)\.ts$/,
  /^src\/keeper\/answers\.ts$/,
  /^src\/replay\/fold\.ts$/,
];
const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, '');
const isPure = ({ file }: SourceFile): boolean => pure.some((pattern) => pattern.test(file));

describe('the direction of imports', () => {
  it('has no cycle', () => {
    expect(cyclesOf(files)).toEqual([]);
  });

  it.each(directions)('of src/$from: $because', ({ from, may, but = [] }) => {
    expect(inFolder(from).length).toBeGreaterThan(0);
    const strange = inFolder(from).flatMap(({ file, imports }) =>
      (but.includes(file) ? [] : imports)
        .filter(({ target }) => target.startsWith('src/') && !fits(target, may))
        .map(({ target }) => `${file} → ${target}`),
    );
    expect(strange).toEqual([]);
  });

  it('leads to the protocol SDK from the wire only', () => {
    const users = files.filter(({ imports }) =>
      imports.some(({ target }) => target.startsWith('@modelcontextprotocol/')),
    );
    expect(users.map(({ file }) => file).filter((file) => !/^src\/(mcp|oauth)\//.test(file))).toEqual([]);
  });

  it('passes through no barrel', () => {
    expect(files.map(({ file }) => file).filter((file) => /\/index\.tsx?$/.test(file))).toEqual([]);
  });
});

describe('the core', () => {
  it('is where it is said to be', () => {
    for (const pattern of pure) expect(files.filter(({ file }) => pattern.test(file))).not.toEqual([]);
  });

  it('imports nothing of the outside world', () => {
    const outside = (target: string): boolean =>
      /^node:|^rxjs|^@modelcontextprotocol|^better-sqlite3|^fastify|^pino/.test(target);
    const strange = files
      .filter(isPure)
      .flatMap(({ file, imports }) =>
        imports
          .filter(({ target, typeOnly }) => !typeOnly && outside(target))
          .map(({ target }) => `${file} → ${target}`),
      );
    expect(strange).toEqual([]);
  });

  it('reads no clock and throws no dice', () => {
    const asks =
      /Date\.now\(|new Date\(\)|performance\.now\(|Math\.random\(|randomBytes\(|randomUUID\(|setTimeout\(|setInterval\(/;
    expect(files.filter((file) => isPure(file) && asks.test(file.text)).map(({ file }) => file)).toEqual([]);
  });

  it('has machine files that follow the rules which make their table true', () => {
    for (const { file, text } of files.filter(({ file }) => file.endsWith('.machine.ts'))) {
      const code = withoutComments(text);
      expect(code, file).not.toMatch(/\bguard\b|\balways\b|onDone|onError/);
      expect(code, file).not.toMatch(/after:\s*\{[^}]*target/);
    }
  });
});

describe('the code', () => {
  it('prints and exits in one place', () => {
    const allowed = new Map([
      ['src/cli/main.ts', 'the command line'],
      ['src/daemon/logger.ts', "the daemon's log"],
      ['src/daemon.ts', 'a daemon that contradicts its own log ends even if closing hangs'],
    ]);
    const talks = /process\.(exit|stdout|stderr)\b|\bconsole\./;
    expect(files.filter(({ file, text }) => talks.test(text) && !allowed.has(file)).map(({ file }) => file)).toEqual(
      [],
    );
  });

  it('has no type that stands for anything', () => {
    const anything = /:\s*any\b(?! free)|\bas any\b|<any>|\bany\[\]/;
    expect(files.filter(({ text }) => anything.test(withoutComments(text))).map(({ file }) => file)).toEqual([]);
  });
});

describe('the repository', () => {
  const root = packageRoot();
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && file !== 'package-lock.json' && !/\.(png|db|ico)$/.test(file));
  const texts = tracked.flatMap((file) => {
    try {
      return [{ file, text: readFileSync(join(root, file), 'utf8') }];
    } catch {
      // Deleted and not committed yet.
      return [];
    }
  });
  const holding = (pattern: RegExp): string[] => texts.filter(({ text }) => pattern.test(text)).map(({ file }) => file);

  it('names no folder of the machine it was written on', () => {
    expect(holding(/(?<![\w.~/-])\/(?:work|root|Users\/\w+|home\/(?!you\b)\w{2,})\//)).toEqual([]);
  });

  it('names no package registry', () => {
    const hosts = ['registry.npmjs' + '.org', 'files.pythonhosted' + '.org', 'pypi' + '.org', 'deb.debian' + '.org'];
    expect(holding(new RegExp(hosts.map((host) => host.replace(/\./g, '\\.')).join('|')))).toEqual([]);
  });

  it('replaces no module in its tests', () => {
    expect(holding(new RegExp('vi\\.' + 'mock\\('))).toEqual([]);
  });
});
