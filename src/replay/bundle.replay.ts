/** Verifying a bundle and asking what if, as far as what is in it allows; and what is not in it, in words. Pure. */
import { type Heard, step } from '../actors/head.ts';
import { serverRules } from '../actors/server/server.rules.ts';
import { blankServer, type ServerContext } from '../actors/server/server.state.ts';
import type { ServerFact } from '../events/server.events.ts';
import { type Bundle, BundleError } from './bundle.format.ts';
import type { Changes } from './changes.ts';
import type { ServerHead, ServerRecorded } from './inputs.ts';
import { Unexplained } from './inputs.ts';
import { type Moment, type Replayed, unexplained, whatIfInWords } from './replay.ts';
import { type Begun, type Divergence, type Means, verifier } from './verify.ts';
import { AT_REST, asking, configurationIn, type Stretch, stretchOf } from './what-if.ts';
import { iso } from './words.ts';

export interface BundleQuery {
  readonly from?: Moment | undefined;
  readonly to?: Moment | undefined;
  readonly by: Means;
  /** Other limits. */
  readonly set?: Changes | undefined;
}

/** In the shape of a replay of the log, and `lacks`. Throws `BundleError` when a question cannot be answered from it. */
export function* replayingBundle(
  bundle: Bundle,
  { from, to, by, set }: BundleQuery,
): Generator<undefined, Replayed & { readonly lacks: readonly string[] }> {
  const { manifest } = bundle;
  const stream = `server-${manifest.server}`;
  const own = (bundle.facts as readonly ServerRecorded[]).filter((fact) => fact.stream === stream);
  const facts = own.filter(({ position, at }) => {
    if (to === undefined) return true;
    return 'position' in to ? position <= to.position : at <= to.time;
  });
  const found = verifying(facts, by, startOf(bundle, facts[0]));
  const said = { by, facts: found.facts, streams: 1, heads: false, lacks: lacksOf(bundle) };
  yield;
  if (found.divergence) return { ok: false, ...said, divergence: found.divergence };
  if (set === undefined) return { ok: true, ...said };
  const begin = from && ('time' in from ? from.time : own.find(({ position }) => position >= from.position)?.at);
  const end = to && ('time' in to ? to.time : facts.at(-1)?.at);
  const until = Math.min(end ?? Number.POSITIVE_INFINITY, Date.parse(manifest.to));
  try {
    const rest = restIn(bundle, facts);
    const stretch = yield* stretchOf(rest.facts, begin, rest);
    const answer = yield* asking(stretch, { set, from: begin, until });
    return { ok: true, ...said, whatIf: whatIfInWords(answer) };
  } catch (error) {
    if (!(error instanceof Unexplained)) throw error;
    return { ok: false, ...said, divergence: unexplained(error) };
  }
}

/** Where the fold begins: what the bundle says, or else its first fact, which is then taken on trust. */
function startOf({ manifest }: Bundle, first: ServerRecorded | undefined): Begun | null {
  if (!first) return null;
  const { stream, version, data } = first;
  if (manifest.start) return { stream, ...manifest.start };
  return { stream, state: data.to ?? 'stopped', version, context: blankServer };
}

function verifying(
  facts: readonly ServerRecorded[],
  by: Means,
  start: Begun | null,
): { readonly facts: number; readonly divergence: Divergence | null } {
  const verify = verifier(by, start ? [start] : []);
  for (const fact of facts) {
    if (start && fact.version <= start.version) continue;
    const divergence = verify.take(fact);
    if (divergence) return { facts: verify.facts, divergence };
  }
  return { facts: verify.facts, divergence: null };
}

/** The first rest in the bundle, and what happened from there on: what is lived once more begins at rest. */
function restIn({ manifest }: Bundle, facts: readonly ServerRecorded[]): Stretch {
  if (!manifest.start)
    throw new BundleError(
      'What if cannot be asked of this bundle: how the server stood before its first fact is not in it.',
    );
  let head = manifest.start as ServerHead;
  for (let index = 0; ; index += 1) {
    if (AT_REST.has(head.state))
      return { head, configuration: configurationIn(head.context as ServerContext), facts: facts.slice(index) };
    const fact = facts[index];
    if (!fact)
      throw new BundleError(
        `What if cannot be asked of this bundle: the server was never at rest in it (stopped or disabled), so there is nothing to begin from. One that begins earlier may do: watchkeeper bundle ${manifest.server} --from <T>`,
      );
    head = step(serverRules, head, fact as unknown as Heard<ServerFact>);
  }
}

/** What a log has and this bundle has not. */
function lacksOf({ manifest }: Bundle): string[] {
  const { start, from, truncated } = manifest;
  return [
    ...(start === null
      ? [`How the server stood before its first fact: that fact was taken on trust.`]
      : start.version > 0
        ? [
            `The ${start.version} facts of the server before ${iso(Date.parse(from))}: where they led to was taken on trust.`,
          ]
        : []),
    ...(truncated ? ['Older facts of its time, which were too many.'] : []),
    'What the daemon stored of the end: the facts were not held against it.',
    'Calls, grants and other servers.',
  ];
}
