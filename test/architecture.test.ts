/** The shape of the project, held: who may import whom, what is pure, who may print. A rule that is in the way is changed here, with its reason. */
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from './support/paths.ts';
import {
  codeOf,
  filesOfRepository,
  type Import,
  importsOf,
  linesWith,
  type Source,
  sourcesIn,
} from './support/sources.ts';

const sources = sourcesIn('src');
const tests = sourcesIn('test');
const sourceOf = new Map(sources.map((source) => [source.path, source]));

interface Layer {
  /** A folder (with a slash at the end) or a file. */
  readonly of: string;
  /** What may be imported besides the layer's own files: folders or files. */
  readonly may: readonly string[];
  /** What may be imported for its types alone. */
  readonly types?: readonly string[];
  readonly because: string;
}

/** The shapes of the HTTP API. */
const shapes = sources.map(({ path }) => path).filter((path) => /^src\/http\/contract(?:\.\w+)?\.ts$/.test(path));

const layers: readonly Layer[] = [
  { of: 'src/events/', may: [], because: 'what can happen depends on nobody' },
  {
    of: 'src/actors/',
    may: ['src/events/', 'src/mcp/connection.ts', 'src/mcp/cancel.ts', 'src/roster.ts'],
    types: ['src/config/entry.ts'],
    because: 'who decides sees facts, and of the wire only the interface of one connection',
  },
  {
    of: 'src/replay/',
    may: ['src/events/', 'src/actors/', 'src/canonical.ts', 'src/mcp/redact.ts', 'src/mcp/tools.ts'],
    types: ['src/recordings/line.ts'],
    because: 'what was is a fold of facts by the rules of the actors; a fixture is made of recorded lines',
  },
  {
    of: 'src/recordings/',
    may: ['src/mcp/redact.ts', 'src/mcp/tap.ts'],
    types: ['src/events/', 'src/config/entry.ts'],
    because: 'who listens to the wire masks what is heard and knows nothing else of the daemon',
  },
  {
    of: 'src/mcp/',
    may: ['src/canonical.ts', 'src/hash.ts', 'src/roster.ts'],
    types: ['src/events/', 'src/config/entry.ts'],
    because: 'the wire works without a daemon around it',
  },
  {
    of: 'src/oauth/',
    may: ['src/mcp/', 'src/config/files.ts', 'src/config/lock.ts'],
    types: ['src/events/', 'src/config/entry.ts'],
    because: 'logins know the wire they sign for, files and locks; who wants one is known above',
  },
  {
    of: 'src/config/',
    may: ['src/canonical.ts', 'src/hash.ts'],
    types: ['src/events/'],
    because: 'files of people are read without a daemon around',
  },
  {
    of: 'src/clients/',
    may: ['src/config/', 'src/canonical.ts', 'src/hash.ts'],
    because: 'clients are connected without a daemon around; what it says of itself comes in as facts',
  },
  { of: 'src/projections/', may: ['src/events/'], because: 'a view sees facts and the envelope, nothing else' },
  {
    of: 'src/http/',
    may: ['src/events/', 'src/canonical.ts', 'src/root.ts'],
    types: ['src/config/entry.ts'],
    because: 'routes ask the keeper through its interface and hold no rule',
  },
  {
    of: 'src/keeper/',
    may: [
      'src/events/',
      'src/actors/',
      'src/replay/',
      'src/recordings/',
      'src/mcp/',
      'src/config/',
      'src/clients/',
      'src/projections/',
      'src/oauth/',
      'src/http/problem.ts',
      'src/http/wire.ts',
      'src/canonical.ts',
      'src/hash.ts',
      'src/visible.ts',
    ],
    types: [...shapes, 'src/http/keeper.ts'],
    because: 'the keeper joins actors, views and files; of HTTP it knows the shapes',
  },
  {
    of: 'src/hub/',
    may: ['src/events/', 'src/actors/', 'src/canonical.ts', 'src/mcp/', 'src/http/', 'src/roster.ts', 'src/visible.ts'],
    types: ['src/keeper/directory.ts'],
    because: 'the endpoint relays between its clients and connections, and every call goes through the call desk',
  },
  {
    of: 'src/builtin/',
    may: [
      'src/mcp/connection.ts',
      'src/config/nearest.ts',
      'src/http/problem.ts',
      'src/http/moment.ts',
      'src/replay/words.ts',
      'src/replay/tool.diff.ts',
    ],
    types: ['src/events/', ...shapes, 'src/http/keeper.ts'],
    because: 'the daemon as a server asks the keeper what HTTP asks, behind the interface of one connection',
  },
  {
    of: 'src/daemon/',
    may: [
      'src/events/',
      'src/actors/',
      'src/builtin/',
      'src/replay/',
      'src/recordings/',
      'src/mcp/',
      'src/config/',
      'src/clients/',
      'src/projections/',
      'src/keeper/',
      'src/hub/',
      'src/oauth/',
      'src/canonical.ts',
      'src/hash.ts',
      'src/root.ts',
    ],
    types: ['src/http/keeper.ts'],
    because: 'the parts are wired here; what listens is added in daemon.ts',
  },
  {
    of: 'src/daemon.ts',
    may: ['src/events/', 'src/config/', 'src/projections/', 'src/daemon/', 'src/http/', 'src/hash.ts', 'src/root.ts'],
    types: ['src/clients/'],
    because: 'the composition root',
  },
  {
    of: 'src/api/',
    may: [],
    types: shapes,
    because: 'a client needs the shapes and no schema library',
  },
  {
    of: 'src/cli/',
    may: ['src/api/', 'src/clients/', 'src/config/', 'src/replay/', 'src/root.ts', 'src/visible.ts'],
    types: shapes,
    because: 'a command asks the daemon, or reads the files of people and what was',
  },
  { of: 'src/hash.ts', may: [], because: 'names, revisions and texts are hashed in one way' },
  { of: 'src/visible.ts', may: [], because: 'people see the same wherever they are asked' },
  { of: 'src/canonical.ts', may: [], because: 'a text that is hashed is written in one way wherever it comes from' },
  {
    of: 'src/tui/',
    may: [
      'src/api/',
      'src/cli/paint.ts',
      'src/cli/duration.ts',
      'src/cli/event.text.ts',
      'src/replay/fact.words.ts',
      'src/config/names.ts',
      'src/clients/incoming.ts',
      'src/visible.ts',
    ],
    types: shapes,
    because: 'the terminal asks the daemon; words, names and entries of READMEs are read as the commands read them',
  },
  { of: 'src/roster.ts', may: [], because: 'what is there now is kept in one way wherever much comes and goes' },
  { of: 'src/root.ts', may: [], because: 'where the package is depends on nobody' },
];

/** What some commands need beyond their layer. */
const exceptions: readonly { readonly file: string; readonly may: readonly string[]; readonly because: string }[] = [
  { file: 'src/cli/commands/up.ts', may: ['src/daemon.ts'], because: 'it runs the daemon' },
  { file: 'src/cli/commands/tui.ts', may: ['src/tui/main.tsx'], because: 'it loads the terminal when it is asked for' },
  { file: 'src/cli/commands/token.ts', may: ['src/daemon/token.ts'], because: 'the token is a file' },
  { file: 'src/cli/commands/backup.ts', may: ['src/events/sqlite.ts'], because: 'it copies the log' },
  { file: 'src/cli/offline.log.ts', may: ['src/events/sqlite.ts'], because: 'it reads the log without a daemon' },
  {
    file: 'src/cli/offline.history.ts',
    may: ['src/projections/history.projection.ts'],
    because: 'it reads a view without a daemon',
  },
  {
    file: 'src/cli/offline.bundle.ts',
    may: ['src/projections/catalog.projection.ts', 'src/mcp/naming.ts'],
    because: 'it makes a bundle of log, catalog and entry without a daemon',
  },
  {
    file: 'src/cli/offline.why.ts',
    may: ['src/projections/catalog.projection.ts'],
    because: 'it reads log and catalog without a daemon',
  },
  {
    file: 'src/cli/offline.fixture.ts',
    may: ['src/recordings/read.ts', 'src/replay/fixture/build.ts'],
    because: 'it makes a fixture of the recorded files without a daemon',
  },
  {
    file: 'src/cli/commands/fixture.serve.ts',
    may: [
      'src/replay/fixture/format.ts',
      'src/replay/fixture/clock.ts',
      'src/replay/fixture/stdio.ts',
      'src/replay/fixture/http.ts',
      'src/replay/fixture/lives.ts',
    ],
    because: 'it is the recorded server, and needs no daemon for that',
  },
  {
    file: 'src/cli/offline.doctor.ts',
    may: ['src/keeper/doctor.ts'],
    because: 'it makes the same checks and reads the log without a daemon',
  },
  {
    file: 'src/cli/offline.past.ts',
    may: [
      'src/keeper/answers.ts',
      'src/keeper/as-of.ts',
      'src/keeper/tools-as-of.ts',
      'src/keeper/tools-history.ts',
      'src/mcp/naming.ts',
      'src/projections/status.projection.ts',
    ],
    because: 'it answers about the past as the daemon does, out of the files',
  },
  {
    file: 'src/cli/offline.summary.ts',
    may: ['src/keeper/summary.ts'],
    because: 'it does the same analysis on the log without a daemon',
  },
  {
    file: 'src/cli/offline.ledger.ts',
    may: ['src/keeper/answers.ts', 'src/keeper/ledger.ts', 'src/projections/calls.projection.ts'],
    because: 'it reads and verifies the ledger without a daemon',
  },
  {
    file: 'src/cli/offline.changes.ts',
    may: [
      'src/keeper/remarks.ts',
      'src/keeper/trust.ts',
      'src/hash.ts',
      'src/mcp/naming.ts',
      'src/projections/registry.projection.ts',
    ],
    because: 'it compares definitions without a daemon',
  },
  {
    file: 'src/cli/offline.rebuild.ts',
    may: ['src/events/sqlite.ts', 'src/keeper/rebuild.ts', 'src/daemon/owner.ts'],
    because: 'it does what the daemon would, and owns the directory meanwhile',
  },
];

const isIn = (path: string, places: readonly string[]): boolean =>
  places.some((place) => (place.endsWith('/') ? path.startsWith(place) : path === place));

describe('Direction of imports', () => {
  it('has a layer for every file, and only one', () => {
    const placed = sources.map(({ path }) => [path, layers.filter(({ of }) => isIn(path, [of])).length]);
    expect(placed.filter(([, count]) => count !== 1)).toEqual([]);
  });

  it.each(layers)('$of keeps to itself and $may: $because', ({ of, may, types = [] }) => {
    const wrong = sources
      .filter(({ path }) => isIn(path, [of]))
      .flatMap(({ path, imports }) => {
        const more = exceptions.filter(({ file }) => file === path).flatMap((exception) => exception.may);
        return imports
          .filter(
            ({ ours, target, typeOnly }) => ours && !isIn(target, [of, ...may, ...more, ...(typeOnly ? types : [])]),
          )
          .map(({ target, typeOnly }) => `${path} imports ${typeOnly ? 'types of ' : ''}${target}`);
      });
    expect(wrong).toEqual([]);
  });

  it.each(exceptions)('$file needs its exception: $because', ({ file, may }) => {
    const used = new Set(sourceOf.get(file)?.imports.map(({ target }) => target));
    expect(may.filter((target) => !used.has(target))).toEqual([]);
  });

  it('leads to files that are there', () => {
    const missing = sources.flatMap(({ path, imports }) =>
      imports.filter(({ ours, target }) => ours && !sourceOf.has(target)).map(({ target }) => `${path} → ${target}`),
    );
    expect(missing).toEqual([]);
  });

  it('has no cycle', () => {
    const cycles: string[] = [];
    const done = new Set<string>();
    const visit = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) {
        cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
        return;
      }
      if (done.has(path)) return;
      for (const { target } of valuesOf(path)) visit(target, [...trail, path]);
      done.add(path);
    };
    for (const { path } of sources) visit(path, []);
    expect(cycles).toEqual([]);
  });

  it('goes round no index', () => {
    expect([...sources, ...tests].filter(({ path }) => /(^|\/)index\.\w+$/.test(path))).toEqual([]);
  });
});

function valuesOf(path: string): readonly Import[] {
  return sourceOf.get(path)?.imports.filter(({ ours, typeOnly }) => ours && !typeOnly) ?? [];
}

/** Everything of ours that is loaded with a file, itself included. */
function loadedWith(path: string): readonly string[] {
  const found = new Set<string>();
  const queue = [path];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    queue.push(
      ...valuesOf(next)
        .filter(({ dynamic }) => !dynamic)
        .map(({ target }) => target),
    );
  }
  return [...found].sort();
}

describe('Views', () => {
  const views = sources.filter(({ path }) => /^src\/projections\/(?!views\.ts$|projection\.ts$)/.test(path));

  it('read no other view', () => {
    expect(views.length).toBeGreaterThan(5);
    const crossing = views.flatMap(({ path, imports }) =>
      imports
        .filter(({ target }) => target.startsWith('src/projections/') && !/\/(projection|bulk)\.ts$/.test(target))
        .map(({ target }) => `${path} → ${target}`),
    );
    expect(crossing).toEqual([]);
  });

  it('know the database by its types alone', () => {
    const loaded = sources
      .filter(({ path }) => path.startsWith('src/projections/'))
      .flatMap(({ path, imports }) =>
        imports.filter(({ ours, typeOnly }) => !ours && !typeOnly).map(({ target }) => `${path} → ${target}`),
      );
    expect(loaded).toEqual([]);
  });
});

/** Files without a world: the same input gives the same output. Whatever they load has to be pure as well. */
const pure: readonly RegExp[] = [
  /^src\/(?:canonical|hash|visible)\.ts$/,
  /^src\/events\/(?:.+\.events|chain|define|shapes|catalogue|describe|envelope|upcast)\.ts$/,
  /^src\/actors\/.+\.(?:machine|decide|state|commands|rules)\.ts$/,
  /^src\/actors\/(?:arrows|head|refusal|table|journal|rules)\.ts$/,
  /^src\/actors\/call\/gate\.ts$/,
  /^src\/actors\/server\/(?:backoff|problem\.text)\.ts$/,
  /^src\/actors\/allowlist\/entry\.ts$/,
  /^src\/replay\/(?:chain|definition\.changes|fold|trouble|words|catalog\.history|tool\.diff|bundle\.(?:contents|format|make|replay|scrub))\.ts$/,
  /^src\/replay\/why(?:\.\w+)?\.ts$/,
  /^src\/replay\/fixture\/(?:build|clock|cues|fits|format|refusal|script)\.ts$/,
  /^src\/recordings\/(?:line|mask)\.ts$/,
  /^src\/replay\/(?:correlation|fingerprint|past|standing|statistics|summary|verdict|verdict\.rules)\.ts$/,
  /^src\/replay\/(?:agenda|changes|difference|evidence|fact\.words|figures|inputs|life|outside|replay|rerun|timeline|unhurried|verify|what-if)\.ts$/,
  /^src\/mcp\/(?:naming|endpoint\.naming|cap|globs|utf8|tools|schema|instructions|failure|redact|message)\.ts$/,
  /^src\/oauth\/(?:addresses|agenvoy|callback\.verdict|challenge|client\.choice|metadata|pages|places|record|redirect|scopes|tokens)\.ts$/,
  /^src\/config\/(?:entry|json)[\w.-]*\.ts$/,
  /^src\/builtin\/(?:arguments|tools|words)\.ts$/,
  /^src\/config\/(?:builtin|expand|parse|mask|diff|names|nearest|raw|secrets|url-parts|limits|schema|canonical)\.ts$/,
  /^src\/config\/(?:allow-file|edit-text|resolve|authorization|environment)\.ts$/,
  /^src\/http\/(?:contract(?:\.\w+)?|keeper|mode|moment|problem|wire)\.ts$/,
  /^src\/clients\/(?:descriptor|describe|facts|identifier|checks|plan|known|findings|incoming(?:\.\w+)?)\.ts$/,
  /^src\/clients\/known\/.+\.ts$/,
  /^src\/clients\/formats\/(?:format|json|toml|yaml|splice)\.ts$/,
  /^src\/http\/(?:contract|keeper|mode|moment|problem|wire)\.ts$/,
  /^src\/projections\/.+\.ts$/,
  /^src\/cli\/(?:paint|duration|event\.text)\.ts$/,
  /^src\/tui\/(?:[\w.]+\.(?:keys|view)|update[\w.]*|model|view|form|paste|words|grants|held|list|timeline|states|spark|field|keys|line|ansi)\.ts$/,
  /^src\/keeper\/(?:answers|as-of|names\.check)\.ts$/,
  /^src\/hub\/tasks\.ts$/,
  /^src\/cli\/bridge\.(?:messages|subscription)\.ts$/,
];
const isPure = (path: string): boolean => pure.some((pattern) => pattern.test(path));

/** Libraries without a world of their own. */
const harmless = ['zod', 'xstate', 'jsonc-parser', 'diff', 'toml-eslint-parser', 'yaml'];
const hashes: Readonly<Record<string, string>> = {
  'src/hash.ts': 'node:crypto',
};

describe('Pure files', () => {
  const files = sources.filter(({ path }) => isPure(path));

  it.each(pure)('there are some that match %s', (pattern) => {
    expect(files.filter(({ path }) => pattern.test(path))).not.toEqual([]);
  });

  it('load only libraries without a world; a hash is a function of its input', () => {
    const wrong = files.flatMap(({ path, imports }) =>
      imports
        .filter(
          ({ ours, typeOnly, target }) => !ours && !typeOnly && !harmless.includes(target) && hashes[path] !== target,
        )
        .map(({ target }) => `${path} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('load only pure files', () => {
    const wrong = files.flatMap(({ path }) =>
      valuesOf(path)
        .filter(({ target }) => !isPure(target))
        .map(({ target }) => `${path} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('read no clock, throw no dice, set no timer and ask no process', () => {
    const world =
      /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\b|\bMath\.random\b|\brandom(?:Bytes|UUID|Int)\b|\bset(?:Timeout|Interval|Immediate)\(|\bprocess\.|\bfetch\(/;
    expect(linesWith(files, world)).toEqual([]);
  });
});

describe('Libraries', () => {
  const importersOf = (library: RegExp): string[] =>
    sources
      .filter(({ imports }) => imports.some(({ ours, target }) => !ours && library.test(target)))
      .map(({ path }) => path);

  it.each<[library: RegExp, under: RegExp, because: string]>([
    [/^@modelcontextprotocol\//, /^src\/(?:mcp|oauth)\//, 'the SDK is known to the wire alone'],
    [/^(?:fastify|@fastify\/)/, /^src\/http\//, 'routes are the only ones that know of requests'],
    [/^commander$/, /^src\/cli\/program\.ts$/, 'one file reads the command line'],
    [/^(?:ink|react)$/, /^src\/tui\/(?:main|draw)\.tsx$/, 'what is drawn is computed without them'],
    [/^pino$/, /^src\/daemon(?:\.ts$|\/)/, 'the daemon alone has a log of its own'],
    [/^xstate$/, /^src\/(?:actors|replay)\//, 'machines live with the actors'],
    [/^rxjs/, /^src\/(?:actors|config|events|keeper|mcp)\//, 'feeds, bursts and bounds; it carries no command'],
  ])('%s is imported under %s only: %s', (library, allowed, _because) => {
    const importers = importersOf(library);
    expect(importers).not.toEqual([]);
    expect(importers.filter((path) => !allowed.test(path))).toEqual([]);
  });

  it('that are loaded with every command are few, so that a command answers at once', () => {
    const loaded = new Set(
      loadedWith('src/cli/main.ts').flatMap((path) =>
        (sourceOf.get(path)?.imports ?? [])
          .filter(
            ({ ours, typeOnly, dynamic, target }) => !ours && !typeOnly && !dynamic && !target.startsWith('node:'),
          )
          .map(({ target }) => target),
      ),
    );
    expect([...loaded].sort()).toEqual(['commander']);
  });

  it('of the project stand in package.json', () => {
    const manifest = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
    const used = new Set(
      sources.flatMap(({ imports }) =>
        imports
          .filter(({ ours, target }) => !ours && !target.startsWith('node:'))
          .map(({ target }) => /^(?:@[^/]+\/)?[^/]+/.exec(target)?.[0] ?? target),
      ),
    );
    expect([...used].filter((name) => !(name in manifest.dependencies))).toEqual([]);
  });
});

describe('Only some may', () => {
  const except = (allowed: Readonly<Record<string, RegExp>>) => (line: string) =>
    !Object.entries(allowed).some(([path, pattern]) => line.startsWith(`${path}:`) && pattern.test(line));

  it('print or end the process', () => {
    const found = linesWith(sources, /\bprocess\.(?:stdout|stderr|exit|exitCode|abort)\b(?!\.isTTY)|\bconsole\b/);
    const allowed = except({
      'src/cli/main.ts': /./,
      // The daemon's log.
      'src/daemon/logger.ts': /process\.stderr\.write/,
      // The daemon contradicts its own log: nothing it would still write would be true.
      'src/daemon.ts': /process\.exit\(1\)/,
    });
    expect(found.filter(allowed)).toEqual([]);
  });

  it('start a process', () => {
    const starters = sources
      .filter(({ imports }) =>
        imports.some(({ target, typeOnly }) => !typeOnly && /^(?:node:child_process|cross-spawn)$/.test(target)),
      )
      .map(({ path }) => path);
    expect(
      starters.filter(
        (path) =>
          // The keeper asks a runtime for its version, the keychain of Linux is searched; neither starts a server.
          !/^src\/(?:mcp\/(?:process|group)|keeper\/checks\.process|oauth\/secret\.tool|cli\/(?:browser|daemon\.detach|process\.identity))\.ts$/.test(
            path,
          ),
      ),
    ).toEqual([]);
  });

  it('append to the log: the desk, and nobody else', () => {
    expect(linesWith(sources, /\blog\.append\(/).map((line) => line.split(':')[0])).toEqual(['src/actors/desk.ts']);
  });

  it('change a context: the record of a machine, and nobody else', () => {
    const assigning = sources.filter(({ code }) => /(?<!Object\.)\bassign\(/.test(code)).map(({ path }) => path);
    expect(assigning.filter((path) => !/\.machine\.ts$|\/table\.ts$|^src\/replay\//.test(path))).toEqual([]);
  });
});

describe('Nowhere', () => {
  it('is anything of type any in the product', () => {
    expect(linesWith(sources, /(?<!\.)\bany\b/)).toEqual([]);
  });

  it('is a compiler error silenced in the product', () => {
    const silenced = sources
      .filter(({ text }) => /@ts-(?:ignore|nocheck|expect-error)/.test(text))
      .map(({ path }) => path);
    expect(silenced).toEqual([]);
  });

  it('is anything exported without a name', () => {
    expect(linesWith(sources, /^export default\b/)).toEqual([]);
  });

  it('is a module mocked, a test left out or singled out', () => {
    expect(linesWith(tests, /\bvi\.(?:mock|doMock|hoisted)\b|\b(?:it|test|describe)\.(?:only|todo)\b/)).toEqual([]);
  });

  it('does the title of a test say what ought to be', () => {
    const titles = tests.flatMap(({ path, text }) =>
      [...text.matchAll(/\b(?:it|describe)(?:\.\w+)*\(\s*(['"`])(.*?)\1/g)].map(([, , title]) => `${path}: ${title}`),
    );
    expect(titles.length).toBeGreaterThan(200);
    expect(titles.filter((title) => /\bshould\b/i.test(title))).toEqual([]);
  });
});

describe('The repository', () => {
  const files = filesOfRepository();
  const texts = (files ?? [])
    .filter((path) => statSync(join(projectRoot, path), { throwIfNoEntry: false })?.isFile())
    .map((path) => ({ path, text: readFileSync(join(projectRoot, path), 'utf8') }))
    .filter(({ text }) => !text.includes('\0'));

  /** `path:line: match` of each line a pattern is found in. */
  const found = (pattern: RegExp): string[] =>
    texts.flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => {
        const match = pattern.exec(line);
        return match ? [`${path}:${index + 1}: ${match[0].trim()}`] : [];
      }),
    );
  const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

  it.runIf(files !== null)('holds no path of the machine it was written on', () => {
    const root = projectRoot.replace(/\/$/, '');
    const here = [root, homedir()].filter((path) => path.split('/').length > 2).map(literally);
    if (here.length > 0) expect(found(new RegExp(`(?:${here.join('|')})(?:[/"'\`\\s]|$)`))).toEqual([]);
    // Homes in examples belong to nobody.
    const homes = /(?:\/home|\/Users|[A-Z]:\\+Users)[/\\]+(?!(?:u|you|me|user|name)\b)[A-Za-z0-9][\w.-]*/;
    expect(found(homes)).toEqual([]);
    expect(found(/(?<![\w.~/-])\/(?:work|root)\//)).toEqual([]);
  });

  it.runIf(files !== null)('names no host of a package registry', () => {
    const host =
      /\bhttps?:\/\/(?:[\w-]+\.)*(?:registry|npm(?:js)?|pypi|pythonhosted|artifactory|nexus|mirrors?)\b[\w.-]*/i;
    expect(found(host)).toEqual([]);
    expect(files?.filter((path) => /(?:^|\/)(?:\.npmrc|\.yarnrc\S*|pip\.conf)$/.test(path))).toEqual([]);
  });

  it.runIf(files !== null)('holds nothing that is made: no bundle, no database, no secret', () => {
    expect(
      files?.filter((path) =>
        /(?:^|\/)(?:dist|node_modules|\.cache)\/|\.(?:db|db-wal|sock|tgz)$|(?:^|\/)token$/.test(path),
      ),
    ).toEqual([]);
  });
});

describe('Reading sources', () => {
  it.each([
    [`import { a } from './b.ts';`, 'src/x/b.ts', false, false],
    [`import type { A } from './b.ts';`, 'src/x/b.ts', true, false],
    [`import { type A, type B } from '../b.ts';`, 'src/b.ts', true, false],
    [`import { type A, b } from './b.ts';`, 'src/x/b.ts', false, false],
    [`import {\n  a,\n  type B,\n} from './b.ts';`, 'src/x/b.ts', false, false],
    [`import * as a from './b.ts';`, 'src/x/b.ts', false, false],
    [`export * from './b.ts';`, 'src/x/b.ts', false, false],
    [`export type { A } from './b.ts';`, 'src/x/b.ts', true, false],
    [`import './b.ts';`, 'src/x/b.ts', false, false],
    [`const b = await import('./b.ts');`, 'src/x/b.ts', false, true],
    [`type B = typeof import('./b.ts');`, 'src/x/b.ts', true, true],
    [`import zod from 'zod';`, 'zod', false, false],
  ])('finds what is imported: %j', (text, target, typeOnly, dynamic) => {
    expect(importsOf('src/x/a.ts', text)).toEqual([{ target, ours: text.includes('./'), typeOnly, dynamic }]);
  });

  it.each([
    ['a // any', 'a       '],
    ['/* any */ a', '          a'],
    [`f('any', "any")`, 'f(     ,      )'],
    ['`any ${any} any` + b', '      (any)      + b'],
    ['`${{ a: `${b}` }}`', '  ({ a:   (b)  }) '],
    ['`${/[)]/.test(a)}`', '  (     .test(a)) '],
    ['x = /any[/"]/g.test(y)', 'x =           .test(y)'],
    ['x / any / y', 'x / any / y'],
    [`'it\\'s any' + a`, '            + a'],
  ])('leaves only code: %s', (text, code) => {
    expect(codeOf(text)).toBe(code);
  });

  it('loses its way in no file: brackets are balanced in what is left', () => {
    const count = (code: string, char: string): number => code.split(char).length;
    const lost = [...sources, ...tests].filter(({ code }: Source) =>
      ['()', '[]', '{}'].some(([open = '', close = '']) => count(code, open) !== count(code, close)),
    );
    expect(lost.map(({ path }) => path)).toEqual([]);
  });
});
