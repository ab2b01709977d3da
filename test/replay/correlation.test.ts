/** Planted causes are found; pasts without a cause, of many shapes, give no hint. */
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../src/events/shapes.ts';
import type { Hint } from '../../src/replay/correlation.ts';
import { summarise } from '../../src/replay/summary.ts';
import { atOnce } from '../../src/replay/unhurried.ts';
import { Chronicle, dice } from '../support/recorded.ts';
import {
  agreement,
  configured,
  connecting,
  died,
  enabled,
  listed,
  lost,
  one,
  reconnecting,
} from '../support/server.facts.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1, 0, 7, 13);
const forgotten: Failure = { class: 'session', phase: 'watch', message: 'watch: session 17 is gone', httpStatus: 404 };

type Dice = () => number;
const exponential = (roll: Dice, mean: number): number => -mean * Math.log(1 - roll());
const around = (roll: Dice, middle: number, share: number): number => middle * (1 + share * (2 * roll() - 1));
/** The logarithm is normal with this standard deviation. */
const logNormal = (roll: Dice, middle: number, deviation: number): number =>
  middle * Math.exp(deviation * Math.sqrt(-2 * Math.log(1 - roll())) * Math.cos(2 * Math.PI * roll()));

/** A server of which a test says when it is lost; everything else is made up. */
class Flaky {
  readonly past = new Chronicle();
  readonly losses: number[] = [];
  at = START;
  #connection = 1;
  #version = '1';

  constructor() {
    this.past.daemonStarted(this.at - SECOND, null);
    this.past.tell(this.at, configured(), enabled, connecting());
    this.#connect(null);
  }

  set version(version: string) {
    this.#version = version;
  }

  /** When it became ready. */
  get readyAt(): number {
    return this.past.facts.at(-1)?.at ?? 0;
  }

  /** Lost at a time; ready again after `downMs`. `signature`: its list is another one then. */
  lost(at: number, { failure = died, downMs = 200, signature = null as string | null } = {}): void {
    this.#connection += 1;
    const before = this.past.facts.length;
    this.past.tell(Math.round(at), lost(this.#connection - 1, failure), reconnecting(this.#connection, 1));
    this.losses.push(this.past.facts[before]?.position ?? 0);
    this.at = Math.round(at + downMs);
    this.#connect(signature);
  }

  /** The list changes while it is ready. */
  changed(at: number, signature: string): number {
    this.at = Math.round(at);
    return this.past.tell(this.at, listed(this.#connection, signature, [{ ...one, description: signature }]));
  }

  #connect(signature: string | null): void {
    const connection = this.#connection;
    const serverInfo = { name: 'one', version: this.#version };
    this.past.tell(
      this.at,
      { type: 'Connected', data: { connection, ...agreement, serverInfo, tookMs: 5 } },
      signature === null ? listed(connection, 's1', null) : listed(connection, signature),
    );
  }
}

function hintsOf({ past, at }: Flaky): readonly Hint[] {
  return atOnce(summarise(past.sources, { server: 'a', to: at + SECOND }))?.hints ?? [];
}
const kindsOf = (flaky: Flaky): string[] => hintsOf(flaky).map(({ kind }) => kind);

function hint(flaky: Flaky, kind: Hint['kind']): Hint {
  const found = hintsOf(flaky).find((one) => one.kind === kind);
  if (!found) throw new Error(`No hint ${kind}: ${JSON.stringify(hintsOf(flaky))}`);
  return found;
}

describe('A cause that is there', () => {
  it('is found when sessions end at an age: 14 of 15 times, and the rows are named', () => {
    const roll = dice(1);
    const flaky = new Flaky();
    for (let n = 0; n < 15; n += 1)
      flaky.lost(flaky.readyAt + (n === 6 ? 20 * MINUTE : around(roll, HOUR, 0.004)), {
        failure: forgotten,
        downMs: 900,
      });
    const found = hint(flaky, 'after-connecting');
    expect(found).toMatchObject({ support: 14, of: 15, fingerprint: null });
    expect(found.text).toMatch(
      /^ends (?:1 h|59 m \d+ s) after it connected, which is how long its sessions seem to last, 14 of 15 times$/,
    );
    expect(found.ms).toBeGreaterThan(0.99 * HOUR);
    expect(found.ms).toBeLessThan(1.01 * HOUR);
    expect(found.positions).toEqual(flaky.losses.filter((_, n) => n !== 6));
    expect(kindsOf(flaky)).toEqual(['after-connecting']);
  });

  it('is found for one failure among others, and said of that one', () => {
    const roll = dice(2);
    const flaky = new Flaky();
    for (let n = 0; n < 40; n += 1) {
      if (roll() < 0.4) flaky.lost(flaky.readyAt + around(roll, HOUR, 0.005), { failure: forgotten });
      else flaky.lost(flaky.readyAt + exponential(roll, 3 * HOUR));
    }
    const found = hint(flaky, 'after-connecting');
    expect(found.fingerprint).not.toBeNull();
    expect(found.of).toBeLessThan(40);
    expect(found.support).toBe(found.of);
  });

  it('is found when it sleeps in after its last call', () => {
    const roll = dice(3);
    const flaky = new Flaky();
    for (let n = 0; n < 12; n += 1) {
      let at = flaky.readyAt;
      for (let call = 0; call < 2 + (n % 5); call += 1) {
        at += exponential(roll, 40 * SECOND);
        flaky.past.call(at, at + 300);
        at += 300;
      }
      flaky.lost(at + around(roll, 10 * MINUTE, 0.003));
    }
    expect(hint(flaky, 'after-idle')).toMatchObject({ support: 12, of: 12 });
    expect(kindsOf(flaky)).toEqual(['after-idle']);
  });

  it('is found when it takes only so many calls', () => {
    const roll = dice(4);
    const flaky = new Flaky();
    for (let n = 0; n < 10; n += 1) {
      let at = flaky.readyAt;
      for (let call = 0; call < 7; call += 1) {
        at += exponential(roll, 5 * MINUTE);
        flaky.past.call(at, call === 6 ? at + 50 : at + 300, call === 6 ? 'last' : `tool-${call % 3}`, call < 6);
      }
      flaky.lost(at + 50);
    }
    expect(hint(flaky, 'after-calls')).toMatchObject({ support: 10, of: 10, calls: 7 });
  });

  it('is found when a tool kills it, by the calls themselves', () => {
    const roll = dice(5);
    const flaky = new Flaky();
    const killers: number[] = [];
    for (let n = 0; n < 120; n += 1) {
      const at = Math.max(flaky.readyAt, flaky.past.calls.at(-1)?.endedAt ?? 0) + exponential(roll, 10 * MINUTE);
      const tool = ['get', 'put', 'render'][Math.floor(roll() * 3)] ?? '';
      const crashes = tool === 'render' && roll() < 0.4;
      const position = flaky.past.call(at, at + (crashes ? 700 : 200), tool, !crashes);
      if (!crashes) continue;
      killers.push(position);
      flaky.lost(at + 700);
    }
    for (let n = 0; n < 10; n += 1) flaky.lost(flaky.readyAt + exponential(roll, 2 * HOUR));
    const found = hint(flaky, 'around-call');
    expect(found.tool).toBe('render');
    expect(found.support).toBe(killers.length);
    expect(found.related).toEqual(killers.slice(-20));
    expect(found.text).toContain('during a call of render or right after it');
  });

  it.each([
    ['every hour', HOUR, 30],
    ['every night', DAY, 12],
    ['every fifteen minutes', 15 * MINUTE, 60],
  ])('is found when something ends it %s, whenever it connected', (_name, period, beats) => {
    const roll = dice(6);
    const flaky = new Flaky();
    const first = Math.ceil(START / period) * period + 0.3 * period;
    for (let n = 0; n < beats; n += 1) {
      if (roll() < 0.4) flaky.lost(Math.max(flaky.readyAt, first + (n - 1) * period) + (0.2 + 0.6 * roll()) * period);
      flaky.lost(first + n * period + 3 * SECOND * roll());
    }
    const found = hint(flaky, 'rhythm');
    expect(found.ms).toBe(period);
    expect(found.support).toBeGreaterThanOrEqual(beats);
    expect(found.positions.length).toBeLessThanOrEqual(20);
  });

  it('is found when it dies after its tools changed', () => {
    const roll = dice(7);
    const flaky = new Flaky();
    const changes: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      flaky.lost(flaky.readyAt + exponential(roll, 8 * HOUR));
      changes.push(flaky.changed(flaky.readyAt + exponential(roll, 5 * HOUR), `t${n}`));
      flaky.lost(flaky.at + 2 * SECOND + 5 * SECOND * roll());
    }
    const found = hint(flaky, 'after-list-change');
    expect(found.support).toBeGreaterThanOrEqual(12);
    expect(changes.every((position) => found.related.includes(position))).toBe(true);
  });

  it('is found when losses began with another version of the server and go on', () => {
    const roll = dice(8);
    const flaky = new Flaky();
    for (let n = 0; n < 4; n += 1) flaky.lost(flaky.readyAt + exponential(roll, 5 * DAY));
    flaky.version = '2';
    for (let n = 0; n < 40; n += 1) flaky.lost(flaky.readyAt + exponential(roll, 4 * HOUR));
    const found = hint(flaky, 'since-server-version');
    expect(found.text).toContain('the server says it is 2 (before: 1)');
    expect(found).toMatchObject({ of: 44 });
    expect(found.support).toBeGreaterThanOrEqual(39);
  });

  it('is found when losses began with a change of the entry', () => {
    const roll = dice(9);
    const flaky = new Flaky();
    for (let n = 0; n < 3; n += 1) flaky.lost(flaky.readyAt + exponential(roll, 6 * DAY));
    const change = flaky.past.tell(flaky.readyAt + HOUR, configured({ revision: 'r2' }));
    for (let n = 0; n < 30; n += 1) flaky.lost(flaky.readyAt + exponential(roll, 5 * HOUR));
    expect(hint(flaky, 'since-entry-change').related).toEqual([change]);
  });

  it('is found when it does not survive a start of the daemon', () => {
    const roll = dice(10);
    const flaky = new Flaky();
    for (let n = 0; n < 10; n += 1) {
      flaky.lost(flaky.readyAt + exponential(roll, 9 * HOUR));
      const restart = flaky.readyAt + exponential(roll, 9 * HOUR);
      flaky.past.daemonStarted(restart, restart - SECOND);
      flaky.lost(restart + 10 * SECOND + 30 * SECOND * roll());
    }
    expect(hint(flaky, 'after-daemon-start').support).toBeGreaterThanOrEqual(10);
  });
});

describe('Chance alone', () => {
  const lives: readonly (readonly [string, (roll: Dice) => number])[] = [
    ['lost at random', (roll) => exponential(roll, 2 * HOUR)],
    ['lost at random and often', (roll) => exponential(roll, 3 * MINUTE)],
    ['lost after widely spread times', (roll) => logNormal(roll, HOUR, 0.6)],
    ['lost in bad hours', (roll) => (roll() < 0.8 ? exponential(roll, MINUTE) : exponential(roll, 20 * HOUR))],
    ['lost at any time of a day', (roll) => DAY * roll()],
  ];

  it.each(lives)(
    'gives no hint: %s, in 60 pasts with changes, calls and restarts that have nothing to do with it',
    (_name, life) => {
      const found: string[] = [];
      for (let seed = 1; seed <= 60; seed += 1) {
        const roll = dice(seed * 7919);
        const flaky = new Flaky();
        const losses = 4 + Math.floor(roll() * 60);
        for (let n = 0; n < losses; n += 1) {
          const end = flaky.readyAt + life(roll);
          const rate = exponential(roll, 10 * MINUTE);
          let at = flaky.readyAt;
          for (let call = 0; call < 20; call += 1) {
            at += exponential(roll, rate);
            if (at >= end) break;
            const ends = at + exponential(roll, 2 * SECOND);
            flaky.past.call(Math.round(at), Math.round(Math.min(ends, end)), roll() < 0.7 ? 'get' : 'put', ends < end);
          }
          if (roll() < 0.1) flaky.changed(flaky.readyAt + roll() * (end - flaky.readyAt), `t${seed}-${n}`);
          if (roll() < 0.1) flaky.past.tell(Math.max(flaky.at, flaky.readyAt), configured({ revision: `r${n}` }));
          if (roll() < 0.05) flaky.version = `${n}`;
          const restart = flaky.readyAt + roll() * (end - flaky.readyAt);
          if (roll() < 0.1) flaky.past.daemonStarted(Math.round(restart), Math.round(restart) - SECOND, `${n % 3}`);
          flaky.lost(Math.max(end, flaky.readyAt), roll() < 0.3 ? { failure: forgotten } : {});
        }
        found.push(...hintsOf(flaky).map(({ kind, text, chance }) => `seed ${seed}: ${kind} (${text}) ${chance}`));
      }
      expect(found).toEqual([]);
    },
  );

  it.each([1, 2, 3])('is not denied on the strength of %i losses', (count) => {
    const flaky = new Flaky();
    for (let n = 0; n < count; n += 1) flaky.lost(flaky.readyAt + HOUR);
    expect(hintsOf(flaky)).toEqual([]);
  });
});
