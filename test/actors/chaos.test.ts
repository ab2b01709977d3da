import { beforeAll, describe, expect, it } from 'vitest';
import { type AnyMachineSnapshot, type AnyStateMachine, transition } from 'xstate';
import { callMachine } from '../../src/actors/call/call.machine.ts';
import { callRules } from '../../src/actors/call/call.rules.ts';
import { type Head, type Heard, step } from '../../src/actors/head.ts';
import { isRefusal } from '../../src/actors/refusal.ts';
import { serverMachine } from '../../src/actors/server/server.machine.ts';
import { serverRules } from '../../src/actors/server/server.rules.ts';
import { leafOf, leafValue } from '../../src/actors/table.ts';
import { canonicalJson } from '../../src/canonical.ts';
import { catalogue } from '../../src/events/catalogue.ts';
import type { Recorded } from '../../src/events/envelope.ts';
import { failureClass } from '../../src/events/shapes.ts';
import { sha256Hex } from '../../src/hash.ts';
import { readList } from '../../src/keeper/directory.ts';
import { rebuildFromLog } from '../../src/keeper/rebuild.ts';
import { type CallRow, openCalls, readCalls } from '../../src/projections/calls.projection.ts';
import { readHistory } from '../../src/projections/history.projection.ts';
import { readRegistry } from '../../src/projections/registry.projection.ts';
import { readStatus } from '../../src/projections/status.projection.ts';
import { type Crew, crew, dumpViews, WatchedLog } from '../support/actors.ts';
import { type Answered, Chaos } from '../support/chaos.ts';
import { until } from '../support/wait.ts';

/** The same deeds for the same seed, though not at the same moments. */
const SEED = Number(process.env.WATCHKEEPER_CHAOS_SEED ?? 20_251);
const FAULTS = 150;
const NAMES = Array.from({ length: 20 }, (_, index) => `s${String(index).padStart(2, '0')}`);
const PATIENCE = { windowMs: 40, holdMs: 150 };

/** States in which nothing is under way. */
const SETTLED = new Set(['ready', 'backing-off', 'auth-required', 'failed', 'disabled']);

// Two lives of one log: the first is killed in the middle, the second ends in good order.
const log = new WatchedLog();
let first: Crew;
let second: Crew;
let answers: Answered[] = [];
let faults = 0;
let openAtDeath: CallRow[] = [];
let killedAt = 0;

const seeded = `(WATCHKEEPER_CHAOS_SEED=${SEED})`;
const all = (): Recorded[] => log.read({});

/** Types of facts and classes of failures that are in the log. */
const found = new Set<string>();
log.committed$.subscribe((facts) => {
  for (const { type, data } of facts) {
    found.add(type);
    if ('failure' in data) found.add(data.failure.class);
  }
});

/** What the run is to hold at least, and does not yet: classes of failure, facts, answers. */
function missing(given: readonly Answered[]): string[] {
  const kinds = new Set(given.map(({ answer }) => (isRefusal(answer) ? answer.refused : answer.kind)));
  const facts = ['SessionLost', 'ListFailed', 'ConnectFailed', 'LoginRequired', 'ServerFailed', 'ServerRemoved'];
  const calls = ['CallHeld', 'CallApproved', 'CallStarted', 'CallResent'];
  const wanted = [...failureClass.options, ...facts, ...calls];
  const answered = ['result', 'ended', 'held', 'log-unavailable'] as const;
  return [...wanted.filter((name) => !found.has(name)), ...answered.filter((kind) => !kinds.has(kind))];
}

const streams = (kind: string): Map<string, Recorded[]> => {
  const found = new Map<string, Recorded[]>();
  for (const fact of all()) {
    if (fact.stream.startsWith(kind)) found.set(fact.stream, [...(found.get(fact.stream) ?? []), fact]);
  }
  return found;
};

describe(`after two lives full of faults ${seeded}`, () => {
  beforeAll(async () => {
    first = await crew({ log, ...PATIENCE });
    const before = new Chaos(first, NAMES, SEED, 0);
    await before.rage(() => before.faults >= FAULTS);
    log.mend();
    await first.kill();
    killedAt = log.lastPosition();
    openAtDeath = openCalls(log.real.db);

    const refused = log.refused;
    second = await crew({ log, ...PATIENCE });
    const after = new Chaos(second, NAMES, SEED + 1, 1_000_000);
    await after.rage(
      () => after.faults >= refused + FAULTS && missing([...before.answers, ...after.answers]).length === 0,
    );
    faults = before.faults - refused + after.faults;
    await after.calm();
    answers = [...before.answers, ...after.answers];
  }, 300_000);

  it('there were enough of them, of every class', () => {
    expect(faults).toBeGreaterThanOrEqual(200);
    expect(missing(answers)).toEqual([]);
  });

  it('the product never contradicted itself, and no server ran twice at once', () => {
    expect([...first.fatal, ...second.fatal]).toEqual([]);
    for (const made of [first, second]) {
      expect([...made.servers.values()].filter(({ overlaps }) => overlaps > 0).map(({ name }) => name)).toEqual([]);
    }
  });

  it('no report was lost: every server settles, and what is ready is really connected', async () => {
    for (const name of NAMES) {
      await until(() => SETTLED.has(second.state(name) ?? ''), { what: `${name} to settle` });
    }
    for (const name of NAMES) {
      if (second.state(name) !== 'ready') await second.supervisor.reconnect(name, 5_000);
      await second.reaches(name, 'ready');
      const { connection, alive } = second.server(name);
      expect({ name, over: connection?.over, alive }).toEqual({ name, over: false, alive: 1 });
    }
  });

  it('what is shown is what the servers offer', async () => {
    const offered = (name: string): string => readList(second.server(name).tools).signature;
    const shown = (): Record<string, string> =>
      Object.fromEntries(readRegistry(log.real.db).map(({ server, signature }) => [server, signature]));
    await until(() => NAMES.every((name) => shown()[name] === offered(name)), { what: 'the lists to be read' });
    expect(readStatus(log.real.db).map(({ server, state }) => [server, state])).toEqual(
      NAMES.map((name) => [name, 'ready']),
    );
  });

  it('every stream is complete, in order, and fits the catalogue', () => {
    const versions = new Map<string, number>();
    let at = 0;
    for (const fact of all()) {
      expect(fact.version).toBe((versions.get(fact.stream) ?? 0) + 1);
      versions.set(fact.stream, fact.version);
      expect(fact.at).toBeGreaterThanOrEqual(at);
      at = fact.at;
      expect(fact.cause).not.toBeNull();
      catalogue[fact.type].data.parse(fact.data);
    }
  });

  it.each([
    ['server', 'server-', serverRules, serverMachine, 'stopped'],
    ['call', 'call-', callRules, callMachine, 'requested'],
  ] as const)('the fold of every %s leads where the log says, by the table and by the machine itself', (...row) => {
    const [, kind, rules, machine, initial] = row as unknown as [
      string,
      string,
      typeof serverRules,
      AnyStateMachine,
      string,
    ];
    let folded = 0;
    for (const [stream, facts] of streams(kind)) {
      let head: Head<unknown> = { ...rules.initial, version: 0 };
      let snapshot: AnyMachineSnapshot = machine.resolveState({
        value: leafValue(machine, initial),
        context: rules.initial.context,
      });
      for (const fact of facts) {
        head = step(rules as never, head, fact as never as Heard);
        [snapshot] = transition(machine, snapshot, fact) as unknown as [AnyMachineSnapshot];
        const at = `${stream} ${fact.version} ${fact.type}`;
        expect({ at, state: head.state }).toEqual({ at, state: fact.data.to });
        expect({ at, state: leafOf(snapshot.value) }).toEqual({ at, state: fact.data.to });
        folded += 1;
      }
      expect(snapshot.context).toEqual(head.context);
      if (kind === 'server-') {
        expect(log.head(stream)).toEqual({ stream, ...head });
        const actor = second.supervisor.find(stream.slice(kind.length))?.actor;
        expect(actor?.head).toEqual(head);
        expect(actor?.committedHead).toEqual(head);
      }
    }
    expect(folded).toBeGreaterThan(100);
  });

  it('history has no gap and no overlap, and the time nobody watched is said', () => {
    const intervals = readHistory(log.real.db, {});
    for (const name of NAMES) {
      const own = intervals.filter(({ server }) => server === name);
      expect(own.length).toBeGreaterThan(5);
      for (const [index, interval] of own.entries()) {
        const next = own[index + 1];
        expect({ name, index, to: interval.to }).toEqual({ name, index, to: next ? next.from : null });
        expect(interval.from).toBeLessThanOrEqual(interval.to ?? Number.POSITIVE_INFINITY);
        if (next) expect(next.state).not.toBe(interval.state);
      }
    }
    expect(intervals.some(({ state }) => state === 'unobserved')).toBe(true);
  });

  it('the second life closed what the first left open, in the transaction of its start', () => {
    const ends = all().filter(({ position }) => position > killedAt);
    const [start] = ends;
    expect(start?.type).toBe('DaemonStarted');
    const batch = log.batches.find((facts) => facts[0]?.position === start?.position) ?? [];
    expect(
      batch
        .filter(({ stream }) => stream.startsWith('call-'))
        .map(({ stream }) => stream.slice(5))
        .sort(),
    ).toEqual(openAtDeath.map(({ id }) => id).sort());
    for (const { id, state } of openAtDeath) {
      const row = readCalls(log.real.db, { limit: 100_000 }).find((one) => one.id === id);
      expect(row?.outcome).toBe(state === 'running' ? 'unknown' : 'abandoned');
    }
  });

  it('no call was answered before its end was written, or otherwise than it was written', async () => {
    expect(answers.length).toBeGreaterThan(50);
    expect(answers.filter(({ inLedger }) => !inLedger)).toEqual([]);
    await until(() => openCalls(log.real.db).length === 0, { what: 'the last held calls to expire' });
  });

  it('no call ran twice, and none ran that is said not to have run', () => {
    const ran = new Map<string, number>();
    for (const made of [first, second]) {
      for (const { taken } of made.servers.values()) {
        for (const { args } of taken) {
          const hash = sha256Hex(canonicalJson(args));
          ran.set(hash, (ran.get(hash) ?? 0) + 1);
        }
      }
    }
    const rows = readCalls(log.real.db, { limit: 100_000 });
    const byArgs = new Map<string, CallRow[]>();
    for (const row of rows) byArgs.set(row.argsHash, [...(byArgs.get(row.argsHash) ?? []), row]);
    for (const [hash, same] of byArgs) {
      const times = ran.get(hash) ?? 0;
      const mayHave = same.filter(({ outcome }) => ['succeeded', 'tool-error', 'unknown'].includes(outcome ?? ''));
      const must = same.filter(({ outcome }) => ['succeeded', 'tool-error'].includes(outcome ?? ''));
      expect({ hash, same, times: times <= mayHave.length && times >= must.length }).toMatchObject({ times: true });
    }
    for (const hash of ran.keys()) expect(byArgs.has(hash)).toBe(true);
  });

  it('ends in good order', async () => {
    await second.calls.abandon();
    await second.supervisor.stop();
    expect(NAMES.map((name) => second.state(name))).toEqual(NAMES.map(() => 'stopped'));
    for (const server of second.servers.values()) expect(server.alive).toBe(0);
    await second.desk.close();
  });

  it('views and heads that are built anew from the log are those that were there', async () => {
    const live = dumpViews(log.real);
    await rebuildFromLog(log.real);
    const rebuilt = dumpViews(log.real);
    for (const table of Object.keys(live)) expect({ [table]: rebuilt[table] }).toEqual({ [table]: live[table] });
    expect(live.history?.length).toBeGreaterThan(200);
    expect(live.heads?.length).toBeGreaterThanOrEqual(NAMES.length);
  });
});
