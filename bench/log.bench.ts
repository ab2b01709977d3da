/** What the log costs: append, fold, rebuild, and reading status and history beside a long log. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Head, type Heard, step } from '../src/actors/head.ts';
import { serverMachine } from '../src/actors/server/server.machine.ts';
import { serverRules } from '../src/actors/server/server.rules.ts';
import type { ServerContext } from '../src/actors/server/server.state.ts';
import type { Recorded, Unrecorded } from '../src/events/envelope.ts';
import type { ServerFact } from '../src/events/server.events.ts';
import { openLog, type SqliteLog } from '../src/events/sqlite.ts';
import { statusAsOf } from '../src/keeper/as-of.ts';
import { rebuildFromLog } from '../src/keeper/rebuild.ts';
import { sourcesOf } from '../src/keeper/summary.ts';
import { inTurns } from '../src/keeper/turns.ts';
import { readHistory } from '../src/projections/history.projection.ts';
import { projector } from '../src/projections/projection.ts';
import { readStatus, statusMarks } from '../src/projections/status.projection.ts';
import { views } from '../src/projections/views.ts';
import { machineFolder } from '../src/replay/fold.ts';
import { summarise } from '../src/replay/summary.ts';
import { atOnce } from '../src/replay/unhurried.ts';
import { type Means, verifier, verifying } from '../src/replay/verify.ts';
import { packageRoot } from '../src/root.ts';
import { figure, median, quantile, round } from './lib.ts';

const LONG = Number(process.env.LONG ?? 1_000_000);
const SHORT = 1_000;
const SERVERS = 50;
const dir = mkdtempSync(join(tmpdir(), 'watchkeeper-bench-'));

function open(name: string): SqliteLog {
  return openLog({
    file: join(dir, name),
    migrations: join(packageRoot(), 'migrations'),
    durability: 'process',
    project: (db) => projector(db, views),
  });
}

const initial: Head<ServerContext> = { ...serverRules.initial, version: 0 };

/** A server that is lost and comes back, for ever. */
function* life(): Generator<ServerFact> {
  const limits = initial.context.limits;
  yield {
    type: 'ServerConfigured',
    data: { revision: 'r', identity: 'i', transport: 'stdio', wanted: 'on', lazy: false, limits, problem: null },
  };
  yield { type: 'ServerEnabled', data: {} };
  yield { type: 'ConnectStarted', data: { connection: 1, attempt: 1 } };
  for (let connection = 1; ; connection += 1) {
    yield { type: 'ProcessStarted', data: { connection, pid: 4711, startedAt: 1 } };
    yield {
      type: 'Connected',
      data: {
        connection,
        transport: 'stdio',
        era: 'legacy',
        eraFrom: 'remembered',
        protocolVersion: '2025-11-25',
        serverInfo: { name: 's', version: '1' },
        capabilities: { tools: {} },
        instructions: null,
        session: false,
        tookMs: 30,
      },
    };
    yield { type: 'ToolsListed', data: { connection, signature: 's', count: 3, tookMs: 2 } };
    yield {
      type: 'SessionLost',
      data: {
        connection,
        revision: 'r',
        failure: {
          class: 'exit',
          phase: 'watch',
          message: 'exit: the process was killed',
          signal: 'SIGKILL',
          exitCode: null,
          stderrTail: 'out of memory',
        },
      },
    };
    yield { type: 'ReconnectStarted', data: { connection: connection + 1, attempt: 1 } };
  }
}

interface Line {
  readonly name: string;
  readonly facts: Generator<ServerFact>;
  head: Head<ServerContext>;
}

let clock = Date.parse('2026-01-01T00:00:00Z');
/** Between two facts, in ms. */
let pace = 10;
function nextFact(line: Line): Unrecorded {
  const fact = line.facts.next().value as ServerFact;
  clock += pace;
  line.head = step(serverRules, line.head, { ...fact, at: clock });
  return {
    stream: `server-${line.name}`,
    version: line.head.version,
    type: fact.type,
    schema: 1,
    at: clock,
    cause: null,
    data: { ...fact.data, to: line.head.state } as Recorded['data'],
  };
}
const lines = (): Line[] =>
  Array.from({ length: SERVERS }, (_, index) => ({ name: `s${index}`, facts: life(), head: initial }));
const headOf = (line: Line) => ({
  stream: `server-${line.name}`,
  version: line.head.version,
  state: line.head.state,
  context: line.head.context,
});

async function fill(log: SqliteLog, count: number, all: Line[]): Promise<void> {
  for (let written = 0; written < count; ) {
    const batch: Unrecorded[] = [];
    for (const line of all)
      for (let n = 0; n < 20 && written + batch.length < count; n += 1) batch.push(nextFact(line));
    await log.append(batch, all.map(headOf));
    written += batch.length;
  }
}

function time(runs: number, work: () => void): number[] {
  return Array.from({ length: runs }, () => {
    const began = performance.now();
    work();
    return performance.now() - began;
  });
}

console.log(`Append`);
const small = open('small.db');
const few = lines();
const one = few[0] as Line;
const single: number[] = [];
for (let n = 0; n < 3_000; n += 1) {
  const fact = nextFact(one);
  const began = performance.now();
  await small.append([fact], [headOf(one)]);
  single.push((performance.now() - began) * 1000);
}
figure('  one server fact with its rows and head, median', round(median(single)), 'µs', { at: 'most', value: 150 });
figure('  the same, 99 of 100', round(quantile(single, 0.99)), 'µs');
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
for (let n = 0; n < 300; n += 1) {
  await small.append(few.map(nextFact), few.map(headOf));
  await new Promise((resolve) => setImmediate(resolve));
}
delay.disable();
figure('  longest stop of the event loop, 50 facts a tick', round(delay.max / 1e6, 1), 'ms', { at: 'most', value: 25 });

console.log('Fold');
const story = lines()[0] as Line;
const told = Array.from({ length: 200_000 }, () => nextFact(story)) as unknown as Heard<ServerFact>[];
const [byTable = 1] = time(1, () => {
  told.reduce((head, fact) => step(serverRules, head, fact), initial);
});
figure('  by the table', round(told.length / (byTable / 1000)), 'facts/s', { at: 'least', value: 500_000 });
const some = told.slice(0, 20_000);
const machine = machineFolder(serverMachine, serverRules.initial);
const [byMachine = 1] = time(1, () => {
  for (const fact of some) machine(fact);
});
figure('  through the machine', round(some.length / (byMachine / 1000)), 'facts/s', { at: 'least', value: 25_000 });

const verified = (by: Means, facts: readonly object[]): number => {
  const check = verifier(by);
  const rows = (facts as readonly Unrecorded[]).map(
    (fact, index): Recorded => ({
      position: index + 1,
      stream: fact.stream,
      version: fact.version,
      type: fact.type,
      schema: fact.schema,
      at: fact.at,
      cause: fact.cause,
      data: fact.data,
    }),
  );
  const [took = 1] = time(1, () => {
    for (const row of rows) if (check.take(row)) throw new Error('The benchmark does not explain its own log.');
  });
  return round(rows.length / (took / 1000));
};
figure('  verified by the table', verified('table', told), 'facts/s', { at: 'least', value: 500_000 });
figure('  verified through the machine, shapes too', verified('machine', some), 'facts/s', {
  at: 'least',
  value: 25_000,
});

console.log(`A log of ${SHORT} facts beside one of ${LONG}`);
const short = open('short.db');
await fill(short, SHORT, lines());
const long = open('long.db');
await fill(long, LONG, lines());
const reads = (log: SqliteLog): number => median(time(300, () => void readStatus(log.db))) * 1000;
reads(short);
const [shortRead, longRead] = [reads(short), reads(long)];
figure('  status of 50 servers, short log', round(shortRead), 'µs');
figure('  status of 50 servers, long log, times the short', round(longRead / shortRead, 2), '', {
  at: 'most',
  value: 1.5,
});
const newest = median(
  time(200, () => void long.db.prepare('select * from history where server = ? order by seq desc limit 100').all('s7')),
);
figure('  history of one server, last 100 rows, long log', round(newest, 3), 'ms', { at: 'most', value: 0.3 });
const wholeDay = median(time(20, () => void readHistory(long.db, { name: 's7', from: clock - 60_000 })));
figure('  history of one server, the last minute, long log', round(wholeDay, 3), 'ms');
const moments = Array.from({ length: 50 }, (_, n) => Math.ceil(((n + 1) * LONG) / 50));
const marks = statusMarks(long.db);
const then = moments.flatMap((position) => time(1, () => void statusAsOf(long, position, marks)));
figure('  status of 50 servers at a moment of the past, long log', round(median(then), 1), 'ms', {
  at: 'most',
  value: 50,
});
const rebuilt = await rebuildFromLog(long);
figure('  rebuild of all views', round(rebuilt.facts / (rebuilt.tookMs / 1000)), 'facts/s', {
  at: 'least',
  value: 200_000,
});
const halts: number[] = [];
const [fromFile = 1] = time(1, () => {
  const work = verifying(long, { by: 'table' });
  for (let done = false; !done; ) {
    const began = performance.now();
    done = work.next().done === true;
    halts.push(performance.now() - began);
  }
});
figure('  verified by the table, read from the file', round(LONG / (fromFile / 1000)), 'facts/s');
figure('  longest stop of the event loop meanwhile', round(Math.max(...halts), 1), 'ms');

console.log('Thirty days of one server, 100,000 facts');
const month = open('month.db');
pace = (30 * 86_400_000) / 100_000;
const [alone] = lines();
if (alone) await fill(month, 100_000, [alone]);
const summary = () => summarise(sourcesOf(month, month.db), { server: 's0', to: clock });
atOnce(summary());
const whole = time(5, () => void atOnce(summary()));
figure('  summary', round(median(whole)), 'ms', { at: 'most', value: 300 });
const stops = monitorEventLoopDelay({ resolution: 1 });
stops.enable();
await inTurns(summary());
stops.disable();
figure('  longest stop of the event loop meanwhile', round(stops.max / 1e6, 1), 'ms', { at: 'most', value: 25 });
for (const log of [small, short, long, month]) log.close();
rmSync(dir, { recursive: true, force: true });
