/**
 * Whether the machines of today still explain the log: every fact is folded anew, and what it leads to is held against
 * what stands in the log (ADR 2). Finds as well what was changed by another hand: a row that is missing, that stands
 * elsewhere, that says something else than it did.
 */
import type { AnyStateMachine, SnapshotFrom } from 'xstate';
import { allowlistRules } from '../actors/allowlist/allowlist.rules.ts';
import { callMachine } from '../actors/call/call.machine.ts';
import { callRules } from '../actors/call/call.rules.ts';
import type { Heard, Rules } from '../actors/head.ts';
import { journalRules } from '../actors/journal.ts';
import { serverMachine } from '../actors/server/server.machine.ts';
import { serverRules } from '../actors/server/server.rules.ts';
import { leafOf } from '../actors/table.ts';
import { definitionOf, type Fact } from '../events/catalogue.ts';
import type { FactDefinition, StreamKind } from '../events/define.ts';
import type { Recorded } from '../events/envelope.ts';
import type { EventLog, HeadRow } from '../events/log.ts';
import { UnreadableFact } from '../events/upcast.ts';
import { firstDifference } from './difference.ts';
import { machineSteps } from './fold.ts';
import { iso } from './words.ts';

/**
 * `machine`: XState itself takes every step, and every fact is held against its shape. `table`: what the machine was asked
 * once, twenty times as fast; a shape is looked at only where the fold stumbles over it.
 */
export type Means = 'machine' | 'table';

/** What kind of contradiction it is. */
export type DivergenceKind =
  /** The fact leads to another state than the log says. */
  | 'state'
  /** Its state does not react to the fact. */
  | 'not-heard'
  /** A version is missing or there twice. */
  | 'version'
  /** Position or time goes back. */
  | 'order'
  /** The data does not fit the shape of its type. */
  | 'shape'
  /** The row cannot be read at all. */
  | 'unreadable'
  /** No such stream, or the fact belongs into another one. */
  | 'stream'
  /** The facts lead to another head than the stored one. */
  | 'head'
  /** What was told leads to other facts by the rules of today; only looked at for a question of what if. */
  | 'rules';

/** The first place where the log and its fold disagree. */
export interface Divergence {
  /** Of the fact; for a head that of the last fact of its stream, 0 when there is none. */
  readonly position: number;
  readonly stream: string;
  readonly version: number;
  /** Of the fact; for a head that of the last fact of its stream, '' when there is none. */
  readonly type: string;
  readonly kind: DivergenceKind;
  /** What the log says, and what the fold says; null: nothing. */
  readonly recorded: string | null;
  readonly folded: string | null;
  /** In one sentence, for a person. */
  readonly reason: string;
}

export interface Verdict {
  readonly ok: boolean;
  readonly by: Means;
  /** Facts that were folded, in so many streams. */
  readonly facts: number;
  readonly streams: number;
  /** Whether what the facts lead to was also held against the stored heads: not when the end of the log was left out. */
  readonly heads: boolean;
  readonly divergence: Divergence | null;
}

type AnyRules = Pick<Rules<unknown, Fact, never, never>, 'initial' | 'next' | 'evolve'>;

interface Kind {
  readonly rules: AnyRules;
  readonly machine: AnyStateMachine | null;
  /** Whether the fold of such a stream is stored. */
  readonly keepsHead: boolean;
}

const kinds: Readonly<Record<StreamKind, Kind>> = {
  server: { rules: serverRules as unknown as AnyRules, machine: serverMachine, keepsHead: true },
  call: { rules: callRules as unknown as AnyRules, machine: callMachine, keepsHead: false },
  allowlist: { rules: allowlistRules as unknown as AnyRules, machine: null, keepsHead: true },
  config: { rules: journalRules() as unknown as AnyRules, machine: null, keepsHead: true },
  daemon: { rules: journalRules() as unknown as AnyRules, machine: null, keepsHead: true },
  logins: { rules: journalRules() as unknown as AnyRules, machine: null, keepsHead: true },
};

function kindOf(stream: string): StreamKind | null {
  if (stream.startsWith('server-')) return 'server';
  if (stream.startsWith('call-')) return 'call';
  return stream === 'allowlist' || stream === 'config' || stream === 'daemon' || stream === 'logins' ? stream : null;
}

type Snapshot = SnapshotFrom<AnyStateMachine>;

/** What is known of one stream on the way. */
interface Line {
  readonly kind: StreamKind;
  readonly rules: AnyRules;
  /** null: it is folded by its table. */
  readonly machine: ReturnType<typeof machineSteps> | null;
  version: number;
  position: number;
  type: string;
  state: string;
  context: unknown;
  snapshot: Snapshot | null;
}

export interface Verifier {
  /** Takes the next fact of the log, or of one stream; the first divergence, after which nothing more is to be taken. */
  take(fact: Recorded): Divergence | null;
  /** At the end: holds the folds against the stored heads. `stream`: only this one was taken. */
  close(heads: readonly HeadRow[], stream?: string): Divergence | null;
  readonly facts: number;
  readonly streams: number;
}

/** Where a stream stood before the first fact that is taken of it. */
export type Begun = Pick<HeadRow, 'stream' | 'state' | 'version' | 'context'>;

/** Verifies facts that come from anywhere, in the order of the log. `begun`: streams that are not taken from their first fact on. */
export function verifier(by: Means, begun: readonly Begun[] = []): Verifier {
  const lines = new Map<string, Line>();
  const steps = new Map<StreamKind, ReturnType<typeof machineSteps>>();
  let facts = 0;
  let latest = 0;
  let settled: Snapshot | null = null;

  const stepsOf = (kind: StreamKind): Line['machine'] => {
    const { machine, rules } = kinds[kind];
    if (by === 'table' || machine === null) return null;
    const known = steps.get(kind) ?? machineSteps(machine, rules.initial);
    steps.set(kind, known);
    return known;
  };

  const lineOf = (stream: string, kind: StreamKind): Line => {
    const { rules } = kinds[kind];
    const start = begun.find((one) => one.stream === stream);
    const { state, context } = start ?? rules.initial;
    const { machine } = kinds[kind];
    const made = {
      kind,
      rules,
      machine: start && by === 'machine' && machine ? machineSteps(machine, start) : stepsOf(kind),
      version: start?.version ?? 0,
      position: 0,
      type: '',
      state,
      context,
      snapshot: null,
    };
    lines.set(stream, made);
    return made;
  };

  return {
    get facts() {
      return facts;
    },
    get streams() {
      return lines.size;
    },

    take(fact) {
      const { stream, type, version, position, at } = fact;
      const kind = lines.get(stream)?.kind ?? kindOf(stream);
      if (kind === null) return diverges(fact, 'stream', stream, null, `There is no stream called "${stream}".`);
      const line = lines.get(stream) ?? lineOf(stream, kind);
      if (version !== line.version + 1 || position <= line.position || at < latest) {
        return outOfOrder(fact, line, latest);
      }
      const definition = definitionOf(type);
      if (definition?.stream !== kind) {
        return diverges(fact, 'stream', type, null, `${type} is no fact of the stream ${stream}.`);
      }
      const misfit = by === 'machine' ? misfitOf(definition, fact) : null;
      if (misfit) return misfit;
      const from = line.state;
      try {
        if (!hear(line, fact)) {
          const reason = `${type} is not heard in state "${from}".`;
          return diverges(fact, 'not-heard', fact.data.to ?? type, from, reason);
        }
      } catch (error) {
        const reason = `The data of ${type} cannot be folded: ${String(error)}.`;
        return misfitOf(definition, fact) ?? diverges(fact, 'shape', 'data', null, reason);
      }
      const to = fact.data.to ?? '';
      if (line.state !== to) {
        const said = to === '' ? 'nothing of a state' : `"${to}"`;
        const reason = `After ${type} in state "${from}" the log says ${said}, the ${by} "${line.state}".`;
        return diverges(fact, 'state', to || null, line.state || null, reason);
      }
      line.version = version;
      line.position = position;
      line.type = type;
      latest = at;
      facts += 1;
      if (kind === 'call' && line.state === 'settled') {
        // There are many calls, and one that has settled hears nothing more: all of them may share what is left.
        settled ??= line.snapshot;
        line.snapshot = settled;
        line.context = null;
      }
      return null;
    },

    close(heads, only) {
      const stored = new Map(heads.map((head) => [head.stream, head]));
      const streams = new Set(only === undefined ? [...lines.keys(), ...stored.keys()] : [only]);
      for (const stream of [...streams].sort()) {
        const kind = kindOf(stream);
        const line = lines.get(stream);
        const head = stored.get(stream);
        if (kind !== null && !kinds[kind].keepsHead) continue;
        const found = line && head ? firstDifference(headOf(head), headOf(line)) : null;
        if (line && head && found === null) continue;
        if (!line && !head) continue;
        const say = (one: Line | HeadRow | undefined, value: unknown): string | null =>
          one === undefined ? null : found ? `${found.path} ${shown(value)}` : `version ${one.version}`;
        return {
          position: line?.position ?? 0,
          stream,
          version: line?.version ?? 0,
          type: line?.type ?? '',
          kind: 'head',
          recorded: say(head, found?.one),
          folded: say(line, found?.other),
          reason: reasonOf(stream, line, head, found?.path),
        };
      }
      return null;
    },
  };
}

/** Moves the line; false when the fact is not heard. */
function hear(line: Line, fact: Recorded): boolean {
  const heard = fact as unknown as Heard;
  if (line.machine === null) {
    const target = line.rules.next(line.state, fact.type);
    if (target === undefined) return false;
    line.context = line.rules.evolve(line.context, heard);
    line.state = target ?? line.state;
    return true;
  }
  const before = line.snapshot ?? line.machine.born;
  const after = line.machine.step(before, heard);
  if (after === before) return false;
  line.snapshot = after;
  line.context = after.context;
  line.state = leafOf(after.value);
  return true;
}

const diverges = (
  { position, stream, version, type }: Recorded,
  kind: DivergenceKind,
  recorded: string | null,
  folded: string | null,
  reason: string,
): Divergence => ({ position, stream, version, type, kind, recorded, folded, reason });

function outOfOrder(fact: Recorded, line: Line, latest: number): Divergence {
  const { stream, version, position, at } = fact;
  if (version !== line.version + 1) {
    const reason =
      version > line.version + 1
        ? `Version ${line.version + 1} of ${stream} is missing: after ${line.version} comes ${version}.`
        : `Version ${version} of ${stream} stands after version ${line.version}.`;
    return diverges(fact, 'version', `version ${version}`, `version ${line.version + 1}`, reason);
  }
  if (position <= line.position) {
    const reason = `Version ${version} of ${stream} stands before version ${line.version}.`;
    return diverges(fact, 'order', `position ${position}`, `after position ${line.position}`, reason);
  }
  const reason = 'Time goes back, which it never does in the log.';
  return diverges(fact, 'order', iso(at), `${iso(latest)} or later`, reason);
}

/** Where the data of a fact does not fit its shape; null: it does. */
function misfitOf({ data: shape }: FactDefinition, fact: Recorded): Divergence | null {
  const read = shape.safeParse(fact.data);
  if (read.success) return null;
  const [issue] = read.error.issues;
  const member = issue?.path.join('.') || 'data';
  const reason = `The data of ${fact.type} does not fit its shape: ${member}: ${issue?.message ?? 'it is another'}.`;
  return diverges(fact, 'shape', member, null, reason);
}

const headOf = ({ version, state, context }: Pick<HeadRow, 'version' | 'state' | 'context'>) => ({
  version,
  state,
  context,
});

function reasonOf(stream: string, line: Line | undefined, head: HeadRow | undefined, path = ''): string {
  if (head === undefined) return `No head of ${stream} is stored.`;
  if (line === undefined) return `A head of ${stream} is stored, and there are no facts that lead to it.`;
  if (path === 'version' && head.version > line.version) {
    return `The stored head of ${stream} stands on version ${head.version}, and the facts end with ${line.version}.`;
  }
  return `The facts of ${stream} lead to another head than the stored one: they differ in ${path}.`;
}

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
};

export type LogReader = Pick<EventLog, 'read' | 'head' | 'heads' | 'lastPosition'>;

export interface VerifyQuery {
  readonly by: Means;
  /** Only this stream; without it the whole log. */
  readonly stream?: string | undefined;
  /** Up to and with this position; the stored heads are compared only where the log ends before or at it. */
  readonly upTo?: number | undefined;
}

/** Facts read at once: what the machine itself takes in a few milliseconds. */
const PAGE: Readonly<Record<Means, number>> = { machine: 200, table: 1_000 };

/**
 * Verifies a log, yielding after each page. A log that grows meanwhile is followed to its end. Verifying always begins with
 * the first fact: where a state stands on facts that were not folded, nothing can be said of it.
 */
export function* verifying(log: LogReader, { by, stream, upTo }: VerifyQuery): Generator<undefined, Verdict> {
  const verify = verifier(by);
  const verdict = (divergence: Divergence | null, heads: boolean): Verdict => ({
    ok: divergence === null,
    by,
    facts: verify.facts,
    streams: verify.streams,
    heads,
    divergence,
  });
  let after = 0;
  let afterVersion = 0;
  for (;;) {
    const place = stream === undefined ? { after } : { stream, afterVersion };
    const { facts, broken } = readable(log, { ...place, limit: PAGE[by], ...(upTo === undefined ? {} : { upTo }) });
    for (const fact of facts) {
      const found = verify.take(fact);
      if (found) return verdict(found, false);
      after = fact.position;
      afterVersion = fact.version;
    }
    if (broken) return verdict(unreadable(broken), false);
    if (facts.length > 0) {
      yield;
      continue;
    }
    // Heads are written with their facts: read first, they are those of this end or of a later one.
    const head = stream === undefined ? null : log.head(stream);
    const heads = stream === undefined ? log.heads() : head ? [head] : [];
    const last = log.lastPosition();
    if (upTo !== undefined && upTo < last) return verdict(null, false);
    if (stream === undefined ? last > after : hasMore(log, stream, afterVersion)) continue;
    return verdict(verify.close(heads, stream), true);
  }
}

type Read = Parameters<LogReader['read']>[0];

/** A page as far as it can be read, and the row that cannot be. */
function readable(log: LogReader, query: Read): { facts: Recorded[]; broken: UnreadableFact | null } {
  let broken: UnreadableFact | null = null;
  for (let upTo = query.upTo; ; ) {
    try {
      return { facts: log.read(upTo === undefined ? query : { ...query, upTo }), broken };
    } catch (error) {
      if (!(error instanceof UnreadableFact)) throw error;
      broken = error;
      upTo = error.row.position - 1;
    }
  }
}

function hasMore(log: LogReader, stream: string, afterVersion: number): boolean {
  const { facts, broken } = readable(log, { stream, afterVersion, limit: 1 });
  return facts.length > 0 || broken !== null;
}

const unreadable = ({ row, message }: UnreadableFact): Divergence => ({
  ...row,
  kind: 'unreadable',
  recorded: row.type,
  folded: null,
  reason: message,
});
