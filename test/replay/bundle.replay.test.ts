import { describe, expect, it } from 'vitest';
import { serverRules } from '../../src/actors/server/server.rules.ts';
import { whatIf as whatIfShape } from '../../src/http/contract.replay.ts';
import { readCatalog } from '../../src/projections/catalog.projection.ts';
import { BundleError, readBundleFiles } from '../../src/replay/bundle.format.ts';
import { bundleOf } from '../../src/replay/bundle.make.ts';
import { type BundleQuery, replayingBundle } from '../../src/replay/bundle.replay.ts';
import { foldByTable } from '../../src/replay/fold.ts';
import { atOnce } from '../../src/replay/unhurried.ts';
import { whatIf } from '../../src/replay/what-if.ts';
import { again, closed, configure, connects, cut, lists, lived, start, stop } from '../support/lives.ts';
import { afternoon, clock, midnight } from '../support/why.story.ts';

/** The afternoon in a bundle, read back as whoever gets it does. */
async function bundled(from?: string) {
  const { log } = await afternoon();
  const made = bundleOf(
    {
      log,
      lists: readCatalog(log.db, 'one'),
      nameOf: (server, tool) => `mcp__${server}__${tool}`,
      entry: undefined,
      versions: { watchkeeper: '0.1.0', node: 'v20.0.0', os: 'linux' },
      scrub: (text) => text,
      dayStart: () => midnight,
    },
    { server: 'one', from: from === undefined ? undefined : clock(from), to: undefined, now: clock('16:00') },
  );
  const files = new Map((made?.files ?? []).map(({ name, text }) => [name as string, text]));
  const read = readBundleFiles(files);
  const ask = (query: Partial<BundleQuery> = {}, bundle = read) =>
    atOnce(replayingBundle(bundle, { by: 'machine', ...query }));
  return { log, read, ask };
}

describe('A bundle that is verified', () => {
  it.each(['machine', 'table'] as const)('from the first fact on is explained by the %s, whole', async (by) => {
    const { read, ask } = await bundled();
    const answer = ask({ by });
    expect(answer).toMatchObject({ ok: true, by, streams: 1, heads: false });
    expect(answer.facts).toBe(read.facts.filter(({ stream }) => stream === 'server-one').length);
    expect(answer.lacks).toEqual([
      'What the daemon stored of the end: the facts were not held against it.',
      'Calls, grants and other servers.',
    ]);
  });

  it.each(['machine', 'table'] as const)('from later on begins with the state it names, by the %s', async (by) => {
    const { ask, read } = await bundled('12:30:05');
    expect(read.manifest.start).toMatchObject({ state: 'backing-off' });
    const answer = ask({ by });
    expect(answer).toMatchObject({ ok: true });
    expect(answer.lacks[0]).toMatch(/^The \d+ facts of the server before 2026-03-15T12:30:05\.000Z: .* on trust\.$/);
  });

  it.each(['machine', 'table'] as const)(
    'without a state to begin with takes its first fact on trust, by the %s',
    async (by) => {
      const { ask, read } = await bundled('12:30:05');
      const bare = { ...read, manifest: { ...read.manifest, start: null } };
      const answer = ask({ by }, bare);
      expect(answer).toMatchObject({ ok: true });
      expect(answer.lacks[0]).toContain('that fact was taken on trust');
    },
  );

  it.each([undefined, '12:30:05'])('and was changed is found out, at its place (from %s)', async (from) => {
    const { ask, read } = await bundled(from);
    const facts = read.facts.map((fact) =>
      fact.type === 'LoginRequired' ? { ...fact, data: { ...fact.data, to: 'ready' } } : fact,
    );
    const place = facts.find(({ type }) => type === 'LoginRequired')?.position;
    expect(ask({}, { ...read, facts: facts as typeof read.facts })).toMatchObject({
      ok: false,
      divergence: { position: place, kind: 'state', recorded: 'ready', folded: 'auth-required' },
    });
    const without = read.facts.filter(({ type }) => type !== 'LoginRequired');
    expect(ask({}, { ...read, facts: without })).toMatchObject({ ok: false, divergence: { kind: 'version' } });
  });

  it('is verified up to a moment', async () => {
    const { ask } = await bundled();
    const [all, some] = [ask(), ask({ to: { time: clock('12:31') } })];
    expect(some.facts).toBeGreaterThan(0);
    expect(some.facts).toBeLessThan(all.facts);
  });
});

describe('A bundle that is asked what if', () => {
  /** It hangs once, is ready, is stopped and started anew, and hangs once more. */
  const life = lived(
    [0, configure()],
    [0, start],
    [30_000, cut()],
    [30_375, again],
    [31_375, connects()],
    [31_400, lists()],
    [200_000, stop],
    [200_010, closed],
    [300_000, configure({}, 'r2')],
    [300_000, start],
    [330_000, cut()],
    [330_375, again],
    [331_000, connects()],
    [331_010, lists()],
  );
  const until = 400_000;
  const bundleFrom = (index: number, bundle: Awaited<ReturnType<typeof bundled>>['read']) => {
    const start = foldByTable(serverRules, life.slice(0, index) as never);
    const facts = life.slice(index).map((fact) => ({ ...fact, stream: 'server-one' }));
    const manifest = { ...bundle.manifest, start, facts: facts.length, to: new Date(until).toISOString() };
    return { manifest, facts } as typeof bundle;
  };
  const set = { connectTimeoutMs: 5_000 };

  it('from the first fact on answers what the log answers', async () => {
    const { ask, read } = await bundled();
    const answer = ask({ by: 'table', set }, bundleFrom(0, read));
    const found = 'whatIf' in answer ? answer.whatIf : null;
    whatIfShape.parse(found);
    const { changed, atBest, recorded } = whatIf(life, { set, until });
    expect(found?.recorded).toEqual(recorded);
    expect(found?.changed).toMatchObject({ upMs: changed.upMs, attempts: changed.attempts, failed: changed.failed });
    expect(found?.atBest).toMatchObject({ upMs: atBest.upMs, attempts: atBest.attempts, failed: atBest.failed });
  });

  it('from the middle of a connection on begins with the next rest', async () => {
    const { ask, read } = await bundled();
    const ready = life.findIndex(({ data }) => data.to === 'ready') + 1;
    const answer = ask({ by: 'table', set }, bundleFrom(ready, read));
    const found = 'whatIf' in answer ? answer.whatIf : null;
    expect(found?.recorded).toMatchObject({ attempts: 2, failed: 1, downMs: 31_010 });
    expect(found?.changed.attempts).toBeGreaterThan(2);
    expect(found?.was.connectTimeoutMs).toBe(30_000);
  });

  it('without a state to begin with says that it cannot', async () => {
    const { ask, read } = await bundled('12:30:05');
    const bare = { ...read, manifest: { ...read.manifest, start: null } };
    expect(() => ask({ set: { connectTimeoutMs: 100 } }, bare)).toThrow(BundleError);
    expect(() => ask({ set: { connectTimeoutMs: 100 } }, bare)).toThrow(/before its first fact is not in it/);
  });

  it('without a rest in it says that it cannot, and how to get one that can', async () => {
    const { ask } = await bundled('15:00');
    expect(() => ask({ set: { connectTimeoutMs: 100 } })).toThrow(/never at rest in it .*bundle one --from <T>/);
  });
});
