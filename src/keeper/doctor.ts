/** What is wrong, with one server, with all of them, or with the daemon: log and files brought together. */
import type { Database } from 'better-sqlite3';
import type { z } from 'zod';
import type { EntryProblem, ResolvedEntry, RunEntry, ServerEntry } from '../config/entry.ts';
import type { Recorded } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import type { ServerFact } from '../events/server.events.ts';
import type { Failure } from '../events/shapes.ts';
import type * as contract from '../http/contract.doctor.ts';
import { redactor } from '../mcp/redact.ts';
import { causeOf } from '../projections/history.projection.ts';
import { readStatus, type StatusRow } from '../projections/status.projection.ts';
import { type ServerSummary, summarise } from '../replay/summary.ts';
import { type Check, type Proof, type Symptoms, verdictOf } from '../replay/verdict.ts';
import { addressLooks } from './checks.address.ts';
import { processLooks } from './checks.process.ts';
import { checksOf, fine, wrong } from './checks.ts';
import { type DaemonLook, daemonChecks } from './doctor.daemon.ts';
import { sourcesOf } from './summary.ts';

type Answer = z.infer<typeof contract.doctor>;
type ServerAnswer = Answer['servers'][number];

export interface DoctorParts {
  readonly log: Pick<EventLog, 'read' | 'positionAt'>;
  readonly db: Database;
  /** Sorted by name. */
  readonly entries: readonly RunEntry[];
  readonly resolve: (entry: ServerEntry) => ResolvedEntry | EntryProblem;
  /** A daemon runs: states are those of now. */
  readonly watched: boolean;
  /** Whose variables and PATH are looked at: `the daemon`. */
  readonly whose: string;
  readonly now: () => number;
  /** Until when there is a past to look at (ms since the epoch): without a daemon, its last sign of life. */
  readonly seenUntil: number;
  readonly noiseOf: (server: string) => Symptoms['noise'];
  readonly namesCheck: (server: string) => Check | null;
  readonly run: <T>(steps: Generator<void, T>) => Promise<T>;
}

/** How far back the past counts, in ms: a week. */
const PAST_MS = 7 * 86_400_000;
/** Servers looked at beside each other: each opens a few connections and asks for a version. */
const TOGETHER = 8;

type Failing = Extract<ServerFact, { data: { failure: Failure } }>;
const isFailing = (fact: Recorded | undefined): fact is Recorded<Failing> =>
  fact !== undefined && 'failure' in fact.data;
/** Facts looked at for a failure that is older than the past that counts: what rests says nothing after it. */
const NEWEST = 50;

/** On one server, or on all and the daemon. */
export async function consult(
  parts: DoctorParts,
  daemon: DaemonLook,
  { name, version }: { readonly name: string | undefined; readonly version: string | null },
): Promise<Answer> {
  const names = name === undefined ? parts.entries.map((entry) => entry.name) : [name];
  const servers = await examine(parts, names);
  const ok = servers.every((server) => server.ok);
  if (name !== undefined) return { ok, servers };
  const checks = await daemonChecks(daemon);
  const well = checks.every((check) => check.ok);
  return { ok: ok && well, servers, daemon: { ok: well, running: parts.watched, version, checks } };
}

/** The verdict on each of these servers, in their order. */
async function examine(parts: DoctorParts, names: readonly string[]): Promise<ServerAnswer[]> {
  const rows = new Map(readStatus(parts.db).map((row) => [row.server, row]));
  const entries = parts.entries.filter(({ name }) => names.includes(name));
  const answers: ServerAnswer[] = [];
  for (let at = 0; at < entries.length; at += TOGETHER) {
    const some = entries.slice(at, at + TOGETHER);
    answers.push(...(await Promise.all(some.map((entry) => examineOne(parts, entry, rows.get(entry.name))))));
  }
  return answers;
}

async function examineOne(parts: DoctorParts, loaded: RunEntry, row: StatusRow | undefined): Promise<ServerAnswer> {
  const { name } = loaded;
  const past = await parts.run(pastOf(parts, name));
  const checks = await serverChecks(parts, loaded, row?.state === 'ready' && parts.watched);
  const last = newestFailure(parts.log, name, past);
  const symptoms: Symptoms = {
    name,
    watched: parts.watched,
    now: parts.now(),
    state: parts.watched ? (row?.state ?? 'stopped') : lastSeenState(parts.log, name),
    since: row?.since ?? parts.now(),
    tools: row?.tools ?? 0,
    transport: loaded.transport,
    error: row?.error ?? null,
    problem: problemOf(parts, loaded),
    limits: loaded.entry?.limits ?? null,
    lastFailure: last,
    summary: past,
    noise: parts.noiseOf(name),
    checks,
  };
  const { verdict, also } = verdictOf(symptoms);
  return {
    name,
    ok: verdict.ok && checks.every(({ ok }) => ok),
    state: symptoms.state,
    kind: verdict.kind,
    verdict: verdict.verdict,
    confidence: verdict.confidence,
    why: [...verdict.why],
    evidence: verdict.evidence.map((proof) => proofAnswer(parts.log, proof)),
    advice: verdict.advice.map((one) => ({ ...one })),
    also: also.map(({ kind, verdict: text, confidence, ok }) => ({ kind, verdict: text, confidence, ok })),
    checks: checks.map((one) => ({ ...one })),
  };
}

function pastOf({ log, db, seenUntil }: DoctorParts, server: string): Generator<void, ServerSummary | null> {
  return summarise(sourcesOf(log, db), { server, from: seenUntil - PAST_MS, to: seenUntil });
}

function newestFailure(
  log: Pick<EventLog, 'read'>,
  server: string,
  past: ServerSummary | null,
): Symptoms['lastFailure'] {
  const known = past?.failures.reduce((newest, { last }) => Math.max(newest, last.position), 0) ?? 0;
  const facts =
    known > 0
      ? log.read({ after: known - 1, limit: 1 })
      : log.read({ stream: `server-${server}`, limit: NEWEST, newestFirst: true });
  const fact = facts.find(isFailing);
  return fact ? { at: fact.at, position: fact.position, failure: fact.data.failure } : null;
}

/** Facts a stop of the daemon adds to a server at most. */
const END = 4;

/** How a server was before the last daemon ended, and ended it. */
function lastSeenState(log: Pick<EventLog, 'read'>, server: string): string {
  const newest = log.read({ stream: `server-${server}`, limit: END, newestFirst: true });
  const before = newest.find(({ data }) => !('reason' in data && /^daemon-/.test(String(data.reason))));
  return before?.data.to ?? 'stopped';
}

/** Rules name rows; what stands in them is read here. */
function proofAnswer(log: Pick<EventLog, 'read'>, { position, at, text }: Proof): ServerAnswer['evidence'][number] {
  const [fact] = position === null || at !== null ? [] : log.read({ after: position - 1, upTo: position, limit: 1 });
  const time = at ?? fact?.at ?? null;
  return {
    position,
    at: time === null ? null : new Date(time).toISOString(),
    text: fact ? `${text}: ${causeOf(fact)}` : text,
  };
}

/** Of a disabled entry nothing is expected, and of the built-in server nothing can be wrong. */
function problemOf({ resolve }: DoctorParts, { entry, problem }: RunEntry): EntryProblem | null {
  if (!entry) return problem ?? { field: 'entry', message: 'it cannot be used' };
  if (entry.disabled || entry.transport === 'builtin') return null;
  const resolved = resolve(entry);
  return 'transport' in resolved ? null : resolved;
}

async function serverChecks(parts: DoctorParts, { name, entry }: RunEntry, connected: boolean): Promise<Check[]> {
  if (!entry || entry.disabled || entry.transport === 'builtin') return [];
  const resolved = parts.resolve(entry);
  if (!('transport' in resolved)) return [wrong('variables', resolved.message, 'See: watchkeeper config check')];
  const looks =
    resolved.transport === 'stdio'
      ? entry.transport === 'stdio'
        ? processLooks({ written: entry, resolved, whose: parts.whose })
        : []
      : addressLooks({ url: new URL(resolved.url), connected, now: parts.now });
  const found = await checksOf(looks);
  const names = parts.namesCheck(name);
  const masked = redactor(resolved.secrets);
  return [fine('variables', 'everything the entry names is set'), ...found, ...(names ? [names] : [])].map((one) => ({
    ...one,
    detail: masked(one.detail),
    next: one.next === null ? null : masked(one.next),
  }));
}
