/** Makes the files of a bundle out of the log, the catalog and the entry: everything in them has been cleaned once more. */
import type { Heard } from '../actors/head.ts';
import { serverRules } from '../actors/server/server.rules.ts';
import type { AllowlistFact } from '../events/allowlist.events.ts';
import type { ConfigFact, DaemonFact } from '../events/daemon.events.ts';
import type { Recorded } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import type { ServerFact } from '../events/server.events.ts';
import { type BundleFileName, bundleFiles } from './bundle.contents.ts';
import { type BundleFile, factLine, type Manifest } from './bundle.format.ts';
import { scrubbed } from './bundle.scrub.ts';
import { catalogHistory, type ToolList } from './catalog.history.ts';
import { foldByTable } from './fold.ts';
import { lineText, toolDiff } from './tool.diff.ts';
import { isFailure, type ServerTold, type Told } from './trouble.ts';
import { gather } from './why.read.ts';
import { explain } from './why.ts';
import { daemonSentence, sentence } from './why.words.ts';
import { iso } from './words.ts';

export type BundleLog = Pick<EventLog, 'read' | 'positionAt' | 'lastPosition' | 'head'>;

export interface BundleSources {
  readonly log: BundleLog;
  /** Lists of the server, oldest first. */
  readonly lists: readonly ToolList[];
  /** The registered name of a tool of the server. */
  readonly nameOf: (server: string, tool: string) => string;
  /** The entry as it is now, masked; undefined when it is not in the file. */
  readonly entry: unknown;
  readonly versions: Pick<Manifest['versions'], 'watchkeeper' | 'node' | 'os'>;
  /** Takes secrets and private places out of a text. */
  readonly scrub: (text: string) => string;
  /** Beginning of a day at a time, in the zone of the person who asks. */
  readonly dayStart: (time: number) => number;
  /** When the daemon was last known alive, if none runs now. */
  readonly deadSince?: number | null;
}

/** Times are ms since the epoch. */
export interface BundleWindow {
  readonly server: string;
  /** undefined: a day before the end, or as far back as it takes to have some facts. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly now: number;
}

const DAY_MS = 86_400_000;
const FEWEST = 300;
const MOST = 20_000;

/** null when the log knows no fact of the server up to the end of the window. */
export function bundleOf(
  sources: BundleSources,
  window: BundleWindow,
): { manifest: Manifest; files: BundleFile[] } | null {
  const { log, scrub } = sources;
  const { server, now } = window;
  const to = Math.min(window.to ?? now, now);
  const end = to >= now ? log.lastPosition() : log.positionAt(to);
  const stretch = serverFacts(log, `server-${server}`, end, window.from, to);
  const raw = stretch.facts[0];
  if (raw === undefined && log.read({ stream: `server-${server}`, upTo: end, limit: 1 }).length === 0) return null;
  const from = window.from ?? Math.min(raw?.at ?? to, to - DAY_MS);
  const begin = Math.min(log.positionAt(from - 1), (raw?.position ?? Number.POSITIVE_INFINITY) - 1);
  const facts = stretch.facts.map((fact) => cleaned(fact, scrub));
  const around = [
    ...aroundIt(log, 'daemon', begin, end),
    ...aroundIt(log, 'config', begin, end).map((fact) => only(fact, server)),
  ];
  const all = [...facts, ...around.map((fact) => cleaned(fact, scrub))].sort((a, b) => a.position - b.position);
  const connected = [
    ...log.read({ stream: `server-${server}`, type: 'Connected', upTo: end, limit: 1, newestFirst: true }),
  ][0];
  const agreed = connected?.data as Extract<ServerFact, { type: 'Connected' }>['data'] | undefined;
  const manifest: Manifest = {
    format: 'watchkeeper-bundle',
    version: 1,
    server,
    createdAt: iso(now),
    from: iso(from),
    to: iso(to),
    start: scrubbed(raw ? startOf(log, raw) : null, scrub),
    facts: all.length,
    truncated: stretch.truncated,
    versions: {
      ...sources.versions,
      transport: agreed?.transport ?? null,
      era: agreed?.era ?? null,
      protocol: agreed?.protocolVersion ?? null,
      serverInfo: scrubbed(agreed?.serverInfo ?? null, scrub),
    },
  };
  const catalog = catalogOf(sources, server, begin, end);
  const texts: Readonly<Record<BundleFileName, string>> = {
    'README.txt': readme(manifest),
    'bundle.json': pretty(manifest),
    'why.txt': scrub(whyText(sources, window, to)),
    'timeline.txt': timeline(all, facts),
    'facts.ndjson': lines(all.map(factLine)),
    'config.json': pretty(configOf(sources, facts)),
    'catalog.txt': catalogText(catalog),
    'catalog.json': pretty(catalog),
    'stderr.txt': stderrText(facts),
  };
  const files = (Object.keys(bundleFiles) as BundleFileName[]).map((name) => ({ name, text: texts[name] }));
  return { manifest, files };
}

const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join('');
const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Facts of the server, ascending, as many as fit. */
function serverFacts(log: BundleLog, stream: string, end: number, from: number | undefined, to: number) {
  const newest = log.read({ stream, upTo: end, limit: MOST + 1, newestFirst: true }) as ServerTold[];
  const since = from ?? to - DAY_MS;
  const inWindow = newest.filter(({ at }, index) => at >= since || (from === undefined && index < FEWEST));
  const truncated = inWindow.length > MOST;
  return { facts: inWindow.slice(0, MOST).reverse(), truncated };
}

const aroundIt = (log: BundleLog, stream: 'daemon' | 'config', begin: number, end: number): Recorded[] =>
  log.read({ stream, after: begin, upTo: end, limit: 1_000, newestFirst: true }).reverse();

/** What the file said about other servers is nobody's business. */
function only(fact: Recorded, server: string): Recorded {
  const told = fact as Told<ConfigFact>;
  if (told.type !== 'ConfigChanged') return fact;
  const of = (names: readonly string[]): string[] => names.filter((name) => name === server);
  const { added, changed, removed } = told.data;
  return {
    ...told,
    data: { ...told.data, added: of(added), changed: of(changed), removed: of(removed), warnings: [] },
  };
}

const cleaned = <Fact extends Recorded>(fact: Fact, scrub: (text: string) => string): Fact => ({
  ...fact,
  data: scrubbed(fact.data, scrub),
});

/** The head before the first fact, so that a replay knows where it starts. */
function startOf(log: BundleLog, first: Recorded): Manifest['start'] {
  if (first.version === 1) return { state: 'stopped', version: 0, context: serverRules.initial.context };
  if (first.version > MOST) return null;
  try {
    const before = log.read({ stream: first.stream, upTo: first.position - 1 });
    return foldByTable(serverRules, before as unknown as Heard<ServerFact>[]);
  } catch {
    // A log that contradicts the rules is worth a bundle all the same.
    return null;
  }
}

function catalogOf({ lists, log, nameOf, scrub }: BundleSources, server: string, from: number, to: number) {
  const grants = (log.read({ stream: 'allowlist', upTo: to }) as Recorded<AllowlistFact>[]).filter(({ data }) =>
    data.entry.startsWith(`mcp__${server}__`),
  );
  const history = catalogHistory(lists, grants, nameOf, { from, to });
  const tools = lists.findLast(({ position }) => position <= to)?.tools ?? [];
  return scrubbed({ ...history, list: tools }, scrub);
}

function catalogText({ changes }: ReturnType<typeof catalogOf>): string {
  const text = changes.flatMap(({ at, position, change, name, before, after, parts, grant }) => {
    const granted = grant
      ? ` (granted by ${grant.entry}${grant.suspended ? '; this change suspended the grant' : ''})`
      : '';
    const head = `${at}  ${position}  ${change}  ${name}${granted}`;
    return before && after ? [head, ...toolDiff(before, after, parts).map((line) => `    ${lineText(line)}`)] : [head];
  });
  return lines(text.length > 0 ? text : ['Its tools did not change.']);
}

function configOf({ entry, scrub }: BundleSources, facts: readonly ServerTold[]) {
  const revisions = facts.flatMap((fact) =>
    fact.type === 'ServerConfigured' ? [{ position: fact.position, at: iso(fact.at), ...fact.data }] : [],
  );
  return { entry: scrubbed(entry ?? null, scrub), entryIsOf: 'the time the bundle was made', revisions };
}

function timeline(all: readonly Recorded[], facts: readonly ServerTold[]): string {
  const places = new Map(facts.map(({ position }, index) => [position, index]));
  return lines(
    all.map((fact) => {
      const index = places.get(fact.position);
      const to = fact.data.to === undefined ? '' : ` -> ${fact.data.to}`;
      const words = index === undefined ? besideWords(fact) : sentence(facts, index);
      return `${iso(fact.at)}  ${fact.position}  ${fact.type}${to}  ${words}`.replace(/\s*\n\s*/g, ' ').trimEnd();
    }),
  );
}

function besideWords(fact: Recorded): string {
  const told = fact as Told<DaemonFact | ConfigFact>;
  if (told.type === 'DaemonStarted' || told.type === 'DaemonStopped') return daemonSentence(told);
  return told.type === 'ConfigRejected'
    ? told.data.message
    : 'The configuration file was read and differs from what ran.';
}

function stderrText(facts: readonly ServerTold[]): string {
  const tails = facts.flatMap((fact) => {
    const tail = isFailure(fact) ? fact.data.failure.stderrTail : undefined;
    return tail ? [`--- ${iso(fact.at)}  ${fact.position}  ${fact.type}\n${tail.trimEnd()}\n`] : [];
  });
  return tails.length > 0 ? tails.join('\n') : 'Nothing of its stderr is in the log.\n';
}

function whyText(
  { log, lists, dayStart, deadSince }: BundleSources,
  { server, now, to }: BundleWindow,
  at: number,
): string {
  const listAt = (_: string, position: number) => lists.findLast((list) => list.position <= position)?.tools ?? null;
  const asked = { server, at: to === undefined ? undefined : { time: at }, now, dayStart, listAt };
  const evidence = gather(log, { ...asked, ...(deadSince === undefined ? {} : { deadSince }) });
  if (!evidence) return '';
  const { state, since, summary, chain, changes: found } = explain(evidence);
  // That others failed is worth knowing; what they are called is nobody's business.
  const changes = found.map((change) =>
    change.kind === 'others' ? { ...change, text: 'Other servers failed within seconds of it.' } : change,
  );
  const line = (one: { at: string; position: number; text: string }): string =>
    `${one.at}  ${one.position}  ${one.text}`;
  return lines([
    `${server}: ${state} since ${since}`,
    summary,
    '',
    'Because, newest first:',
    ...chain.map(line),
    ...(changes.length > 0 ? ['', 'What changed around it:', ...changes.map(line)] : []),
  ]);
}

function readme({ server, from, to, createdAt, truncated }: Manifest): string {
  return lines([
    `What watchkeeper knows about the MCP server "${server}" from ${from} to ${to}.`,
    `Made at ${createdAt}. Times are UTC; the numbers behind them are places in the log.`,
    ...(truncated ? ['Older facts of that time were left out, because there were too many.'] : []),
    '',
    ...Object.entries(bundleFiles).map(([name, about]) => `${name.padEnd(14)} ${about}`),
    '',
    'Literal values of env, headers, query strings and secret arguments are ***. What looks like a credential, home',
    'directories and the name of the person were replaced everywhere (***, <home>, <user>), and long texts were cut.',
    'Arguments and results of calls are never in the log. Look through the files all the same before you send them.',
  ]);
}
