/** Views and heads are disposable: whatever happened, filling them again from the log gives the rows that were written as it happened. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Actor } from '../../src/actors/actor.ts';
import type { AllowlistCommand } from '../../src/actors/allowlist/allowlist.commands.ts';
import { allowlistRules } from '../../src/actors/allowlist/allowlist.rules.ts';
import type { AllowlistContext } from '../../src/actors/allowlist/allowlist.state.ts';
import type { CallCommand, CallWorld } from '../../src/actors/call/call.commands.ts';
import { callRules } from '../../src/actors/call/call.rules.ts';
import type { CallContext } from '../../src/actors/call/call.state.ts';
import { Desk } from '../../src/actors/desk.ts';
import type { Head } from '../../src/actors/head.ts';
import { journalRules } from '../../src/actors/journal.ts';
import type { ServerCommand } from '../../src/actors/server/server.commands.ts';
import { serverRules } from '../../src/actors/server/server.rules.ts';
import type { ServerContext } from '../../src/actors/server/server.state.ts';
import type { AllowlistFact } from '../../src/events/allowlist.events.ts';
import type { CallFact, Outcome } from '../../src/events/call.events.ts';
import type { DaemonFact } from '../../src/events/daemon.events.ts';
import { serverOf } from '../../src/events/envelope.ts';
import type { ServerFact } from '../../src/events/server.events.ts';
import type { Failure, ToolDefinition } from '../../src/events/shapes.ts';
import type { SqliteLog } from '../../src/events/sqlite.ts';
import { rebuildFromLog } from '../../src/keeper/rebuild.ts';
import { openCalls } from '../../src/projections/calls.projection.ts';
import { readHistory } from '../../src/projections/history.projection.ts';
import { readRegistry } from '../../src/projections/registry.projection.ts';
import { readStatus } from '../../src/projections/status.projection.ts';
import { dumpViews } from '../support/actors.ts';
import { request, world } from '../support/call.facts.ts';
import { agreement, configuration } from '../support/server.facts.ts';
import { givenLog } from '../support/story.ts';

/** A command as it is drawn: without the number of the connection, which only the run knows. */
type Drawn<Command> = Command extends { connection: number }
  ? Omit<Command, 'connection'> & { late: boolean }
  : Command;

type Step =
  | { readonly to: 'server'; readonly name: string; readonly command: Drawn<ServerCommand> }
  | { readonly to: 'call'; readonly id: number; readonly command: CallCommand; readonly world: CallWorld }
  | { readonly to: 'allowlist'; readonly command: AllowlistCommand }
  /** What a server in its state would most likely be told next. */
  | {
      readonly to: 'on';
      readonly name: string;
      readonly list: readonly ToolDefinition[];
      readonly failure: Failure | null;
    }
  | { readonly to: 'time'; readonly passed: number }
  | { readonly to: 'daemon'; readonly dead: number };

const names = fc.constantFrom('a', 'b');
const tools = fc.subarray<ToolDefinition>([{ name: 'get' }, { name: 'put', title: 'Put' }, { name: 'new' }]);
const failures: fc.Arbitrary<Failure> = fc.record({
  class: fc.constantFrom('exit', 'timeout', 'auth', 'spawn', 'http-status', 'session'),
  phase: fc.constantFrom('connect', 'list', 'watch'),
  message: fc.constantFrom('one', 'two'),
});
const troubles = fc.oneof<fc.MaybeWeightedArbitrary<Failure | null>[]>(
  { weight: 6, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: failures },
);
const configurations = fc
  .record({ revision: fc.constantFrom('r1', 'r2'), wanted: fc.constantFrom('on', 'on', 'off'), broken: fc.boolean() })
  .map(({ revision, wanted, broken }) =>
    configuration({
      revision: `${revision}${broken}`,
      identity: revision,
      wanted,
      transport: broken ? null : 'stdio',
      problem: broken ? { field: 'url', message: 'is none' } : null,
    }),
  );

const serverCommands: fc.Arbitrary<Drawn<ServerCommand>> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ type: fc.constant('ConfigureServer'), configuration: configurations }) },
  { weight: 1, arbitrary: fc.constantFrom({ type: 'RemoveServer' }, { type: 'StopServer' }) },
  { weight: 3, arbitrary: fc.constantFrom({ type: 'StartServer' }, { type: 'ReconnectServer' }) },
  {
    weight: 20,
    arbitrary: fc
      .oneof(
        fc.constant({ type: 'ReportProcess', pid: 7, startedAt: 5 } as const),
        fc.constant({ type: 'ReportConnected', agreement, tookMs: 1 } as const),
        tools.map((list) => ({
          type: 'ReportTools' as const,
          signature: JSON.stringify(list),
          tools: list,
          warnings: list.length === 0 ? ['none'] : [],
          tookMs: 1,
        })),
        failures.map((failure) => ({ type: 'ReportFailure' as const, failure })),
        failures.map((failure) => ({ type: 'ReportListFailed' as const, failure })),
        fc.constantFrom(
          { type: 'ReportTimeout', of: 'connect' } as const,
          { type: 'ReportTimeout', of: 'list' } as const,
        ),
        fc.boolean().map((push) => ({ type: 'ReportPush' as const, push })),
        fc.constantFrom(
          { type: 'ReportBackoffElapsed' } as const,
          { type: 'ReportStable' } as const,
          { type: 'ReportUnused' } as const,
          { type: 'ReportStopped' } as const,
        ),
      )
      .chain((report) => fc.constantFrom(false, false, false, true).map((late) => ({ ...report, late }))),
  },
);

const outcomes = fc.constantFrom<Outcome>('succeeded', 'tool-error', 'unknown', 'failed');
const callCommands: fc.Arbitrary<CallCommand> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('ask', 'allow-all', 'deny').chain((mode) =>
      fc.boolean().map((wait) => ({
        type: 'RequestCall' as const,
        request: request({ mode: mode as 'ask' }),
        wait,
        holdMs: 60_000,
      })),
    ),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom<CallCommand>(
      { type: 'ApproveCall', by: 'ann', remember: 'once' },
      { type: 'StartApproved' },
      { type: 'DenyCall', by: 'ben', reason: 'no' },
      { type: 'CancelCall', by: 'ann' },
      { type: 'ReportCallerLeft' },
      { type: 'ReportCallerReturned' },
      { type: 'ReportHoldElapsed' },
      { type: 'ReportResent', connection: 9, reason: 'gone' },
    ),
  },
  {
    weight: 3,
    arbitrary: outcomes.map((outcome) => ({
      type: 'ReportSettled' as const,
      settlement: { outcome, resultBytes: 3, resultHash: 'r', truncated: outcome === 'succeeded' },
    })),
  },
);
const worlds = fc.constantFrom(world(), world(), world({ server: null }), world({ definition: 'other' }));

const entries = fc.subarray(['mcp__a__get', 'mcp__a__*', 'mcp__b__get', 'no entry']);
const allowlistCommands: fc.Arbitrary<AllowlistCommand> = fc.oneof(
  entries.map((found) => ({ type: 'SyncFile' as const, entries: found, by: 'file' })),
  fc.constantFrom<AllowlistCommand>(
    { type: 'ReplacePrefix', prefix: 'mcp__a__', entries: ['mcp__a__get'], by: 'main' },
    { type: 'Remember', entry: 'mcp__b__get', by: 'ann', binding: { identity: 'i', definition: 'd' } },
    { type: 'RemoveServer', server: 'a', by: 'daemon' },
  ),
  fc.constantFrom('d', 'd2').chain((definition) =>
    fc.constantFrom('i', 'i2').map((identity) => ({
      type: 'BindSeen' as const,
      tools: [
        { name: 'mcp__a__get', server: 'a', identity, definition },
        { name: 'mcp__b__get', server: 'b', identity, definition },
      ],
    })),
  ),
);

const arm = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({ weight, arbitrary });
const to = <To extends Step['to']>(name: To) => fc.constant(name);
const stories = fc.array(
  fc.oneof(
    arm(24, fc.record({ to: to('on'), name: names, list: tools, failure: troubles })),
    arm(6, fc.record({ to: to('server'), name: names, command: serverCommands })),
    arm(5, fc.record({ to: to('call'), id: fc.nat(3), command: callCommands, world: worlds })),
    arm(3, fc.record({ to: to('allowlist'), command: allowlistCommands })),
    arm(4, fc.record({ to: to('time'), passed: fc.nat(40_000) })),
    arm(1, fc.record({ to: to('daemon'), dead: fc.nat(9_000) })),
  ),
  { minLength: 50, maxLength: 300, size: 'max' },
);

function nextFor(
  { state, context: { connection } }: Head<ServerContext>,
  { list, failure }: Extract<Step, { to: 'on' }>,
): ServerCommand {
  if (failure && /^(connecting|reconnecting|listing|ready)$/.test(state))
    return { type: 'ReportFailure', connection, failure };
  switch (state) {
    case 'stopped':
    case 'disabled':
      return { type: 'ConfigureServer', configuration: configuration() };
    case 'idle':
      return { type: 'StartServer' };
    case 'connecting':
    case 'reconnecting':
      return { type: 'ReportConnected', connection, agreement, tookMs: 1 };
    case 'listing':
    case 'ready':
      return { type: 'ReportTools', connection, signature: JSON.stringify(list), tools: list, warnings: [], tookMs: 1 };
    case 'backing-off':
      return { type: 'ReportBackoffElapsed', connection };
    case 'stopping':
      return { type: 'ReportStopped', connection };
    default:
      return { type: 'ReconnectServer' };
  }
}

const TELLING = ['ToolsListed', 'SessionLost', 'ServerRemoved', 'DaemonStarted', 'CallSettled', 'GrantSuspended'];

/** Everything the daemon's heads are, without bodies: what they would report comes from the story. */
class Run {
  readonly log = givenLog();
  readonly fatal: unknown[] = [];
  #time = 1_000_000;
  #ids = 0;
  #calls = 0;
  readonly #desk = new Desk({
    log: this.log,
    now: () => this.#time,
    random: () => 0.5,
    newId: () => `c-${++this.#ids}`,
    onFatal: (error) => this.fatal.push(error),
  });
  readonly #servers = new Map<string, Actor<ServerContext, ServerFact, ServerCommand>>();
  readonly #open = new Map<number, [string, Actor<CallContext, CallFact, CallCommand, CallWorld>]>();
  #allowlist = this.#newAllowlist();

  async tell(story: readonly Step[]): Promise<void> {
    for (const step of story) {
      // Steps between two passings of time are one tick, and so one transaction.
      if (step.to === 'time' || step.to === 'daemon') await this.#desk.settled();
      this.#take(step);
    }
    await this.#desk.close();
  }

  #take(step: Step): void {
    switch (step.to) {
      case 'time':
        this.#time += step.passed;
        return;
      case 'server': {
        const actor = this.#server(step.name);
        const { late = false, ...command } = step.command as Drawn<ServerCommand> & { late?: boolean };
        const connection = actor.head.context.connection - (late ? 1 : 0);
        void actor.report(
          (command.type.startsWith('Report') ? { ...command, connection } : command) as ServerCommand,
          undefined,
        );
        return;
      }
      case 'on':
        void this.#server(step.name).report(nextFor(this.#server(step.name).head, step), undefined);
        return;
      case 'call': {
        const known = this.#open.get(step.id);
        const [id, actor] = known && known[1].head.state !== 'settled' ? known : this.#newCall();
        this.#open.set(step.id, [id, actor]);
        void actor.report(step.command, step.world);
        return;
      }
      case 'allowlist':
        void this.#allowlist.report(step.command, undefined);
        return;
      case 'daemon':
        this.#restart(step.dead);
    }
  }

  /** As the daemon boots: its start, and the end of all that was open, in one transaction. */
  #restart(dead: number): void {
    const lastAlive = this.log.lastAlive();
    this.#time += dead;
    this.#servers.clear();
    this.#allowlist = this.#newAllowlist();
    const row = this.log.head('daemon');
    const daemon = new Actor<null, DaemonFact, DaemonFact>({
      stream: 'daemon',
      desk: this.#desk,
      rules: journalRules(),
      head: row ? { ...row, context: null } : undefined,
      keepHead: true,
    });
    void daemon.report({ type: 'DaemonStarted', data: { run: 'r', version: '1', pid: 1, lastAlive } }, undefined);
    for (const { stream } of this.log.heads()) {
      if (!stream.startsWith('server-')) continue;
      const actor = this.#server(serverOf(stream));
      void actor.report({ type: 'CloseOpenEnds', lastAlive: lastAlive ?? this.#time }, undefined);
    }
    const open = new Set(openCalls(this.log.db).map(({ id }) => id));
    for (const [id, actor] of this.#open.values())
      if (open.has(id)) void actor.report({ type: 'CloseOpenEnd' }, world());
  }

  #server(name: string): Actor<ServerContext, ServerFact, ServerCommand> {
    const known = this.#servers.get(name);
    if (known) return known;
    const row = this.log.head(`server-${name}`);
    const actor = new Actor<ServerContext, ServerFact, ServerCommand>({
      stream: `server-${name}`,
      desk: this.#desk,
      rules: serverRules,
      head: row ? { ...row, context: row.context as ServerContext } : undefined,
      keepHead: true,
    });
    this.#servers.set(name, actor);
    return actor;
  }

  #newAllowlist(): Actor<AllowlistContext, AllowlistFact, AllowlistCommand> {
    const row = this.log.head('allowlist');
    return new Actor({
      stream: 'allowlist',
      desk: this.#desk,
      rules: allowlistRules,
      head: row ? { ...row, context: row.context as AllowlistContext } : undefined,
      keepHead: true,
    });
  }

  #newCall(): [string, Actor<CallContext, CallFact, CallCommand, CallWorld>] {
    const id = `k${++this.#calls}`;
    return [id, new Actor({ stream: `call-${id}`, desk: this.#desk, rules: callRules, keepHead: false })];
  }
}

/** What is wrong with the intervals of a log; nothing when each begins where the one before it ended. */
function faultsOfHistory({ db }: SqliteLog): string[] {
  const faults: string[] = [];
  const intervals = readHistory(db, {});
  for (const [index, one] of intervals.entries()) {
    const next = intervals[index + 1];
    const isLast = next?.server !== one.server;
    const at = `${one.server} ${one.state} from ${one.from}`;
    if (one.to !== null && one.to < one.from) faults.push(`${at} ends before it begins`);
    if (isLast && one.to !== null) faults.push(`${at} is the last and has ended`);
    if (isLast || !next) continue;
    if (one.to !== next.from) faults.push(`${at} ends at ${one.to} and the next begins at ${next.from}`);
    if (one.state === next.state) faults.push(`${at} is followed by the same state`);
  }
  return faults;
}

async function check(story: readonly Step[], seen: Map<string, number>): Promise<void> {
  const run = new Run();
  await run.tell(story);
  const { log } = run;
  expect(run.fatal).toEqual([]);
  for (const { type } of log.read({})) seen.set(type, (seen.get(type) ?? 0) + 1);

  const live = dumpViews(log);
  const { facts } = await rebuildFromLog(log);
  expect(facts).toBe(log.read({}).length);
  expect(dumpViews(log)).toEqual(live);

  expect(faultsOfHistory(log)).toEqual([]);
  const status = readStatus(log.db);
  const last = new Map(readHistory(log.db, {}).map(({ server, state }) => [server, state]));
  for (const { server, state } of status) expect([server, last.get(server)]).toEqual([server, state]);
  const known = new Map(readRegistry(log.db).map(({ server, tools: list }) => [server, list.length]));
  for (const { server, tools: count } of status) expect([server, known.get(server) ?? 0]).toEqual([server, count]);
  log.close();
}

describe('Whatever happens', () => {
  it('rebuilt views and heads equal the live ones, and the history has neither gaps nor overlaps', {
    timeout: 120_000,
  }, async () => {
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(stories, (story) => check(story, seen)),
      { numRuns: 40, seed: 20_260_301 },
    );
    // Stories that get nowhere would prove nothing.
    const rare = TELLING.filter((type) => (seen.get(type) ?? 0) < 5);
    expect(rare).toEqual([]);
  });
});
