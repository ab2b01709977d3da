/** Every server of a log full of faults, lived once more under a virtual clock. */
import { beforeAll, describe, expect, it } from 'vitest';
import { usualBackoff } from '../../src/actors/server/backoff.ts';
import { serverRules } from '../../src/actors/server/server.rules.ts';
import type { Recorded } from '../../src/events/envelope.ts';
import { inputsOf, type ServerHead, type ServerRecorded } from '../../src/replay/inputs.ts';
import { gathering } from '../../src/replay/outside.ts';
import { type Assumption, rerun } from '../../src/replay/rerun.ts';
import { atOnce } from '../../src/replay/unhurried.ts';
import { type Means, verifying } from '../../src/replay/verify.ts';
import { whatIf } from '../../src/replay/what-if.ts';
import { crew, WatchedLog } from '../support/actors.ts';
import { Chaos } from '../support/chaos.ts';

/** The same deeds for the same seed, though not at the same moments. */
const SEED = Number(process.env.WATCHKEEPER_CHAOS_SEED ?? 7_331);
const NAMES = Array.from({ length: 12 }, (_, index) => `s${String(index).padStart(2, '0')}`);
const FAULTS = 120;

const log = new WatchedLog();
const factsOf = (name: string): ServerRecorded[] => log.read({ stream: `server-${name}` }) as ServerRecorded[];
const start: ServerHead = { ...serverRules.initial, version: 0 };

describe(`two lives full of faults (WATCHKEEPER_CHAOS_SEED=${SEED})`, () => {
  beforeAll(async () => {
    const first = await crew({ log, windowMs: 40, holdMs: 150 });
    const before = new Chaos(first, NAMES, SEED, 0);
    await before.rage(() => before.faults >= FAULTS);
    log.mend();
    await first.kill();
    const second = await crew({ log, windowMs: 40, holdMs: 150 });
    const after = new Chaos(second, NAMES, SEED + 1, 1_000_000);
    await after.rage(() => after.faults >= log.refused + FAULTS);
    await after.calm();
    await second.calls.abandon();
    await second.supervisor.stop();
    await second.desk.close();
  }, 120_000);

  it.each<Means>(['machine', 'table'])('are explained to the last fact by the %s', (by) => {
    const verdict = atOnce(verifying(log, { by }));
    expect(verdict).toMatchObject({ ok: true, divergence: null, heads: true, facts: log.read({}).length });
  });

  it.each(NAMES)('with the limits they had go on as they did, fact by fact: %s', (name) => {
    const facts = factsOf(name);
    expect(facts.length).toBeGreaterThan(20);
    const gathered = gathering();
    for (const input of inputsOf(facts, start, null)) gathered.take(input);
    for (const temper of ['careful', 'hopeful'] as const) {
      const again: unknown[] = [];
      const assumed: Assumption[] = [];
      const until = facts.at(-1)?.at ?? 0;
      const onFact = ({ type, at, data }: any, to: string) => again.push({ type, at, data: { ...data, to } });
      const options = { head: start, until, temper, limits: {}, backoff: usualBackoff, onFact };
      atOnce(rerun({ ...options, outside: gathered.outside(), onAssumption: (one) => assumed.push(one) }));
      const seen = facts.map(({ type, at, data }: Recorded) => ({ type, at, data }));
      expect(again).toEqual(seen);
      expect(assumed).toEqual([]);
    }
  });

  it.each(NAMES)('with other limits are lived to the end: %s', (name) => {
    const facts = factsOf(name);
    const until = facts.at(-1)?.at ?? 0;
    const same = whatIf(facts, { set: {}, until });
    expect(same.changed).toEqual({ ...same.recorded, assumed: [] });
    expect(same.atBest).toEqual(same.changed);
    const { changed, atBest } = whatIf(facts, {
      set: { connectTimeoutMs: 5, backoffBaseMs: 20, stableMs: 500 },
      until,
    });
    for (const { upMs, downMs } of [changed, atBest]) expect(upMs + downMs).toBeGreaterThan(0);
  });
});
