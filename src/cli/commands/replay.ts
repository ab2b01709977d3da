import { resolve } from 'node:path';
import type { Replayed } from '../../api/client.ts';
import { type Changes, wrongIn } from '../../replay/changes.ts';
import { type Line, type Told, timeline } from '../../replay/timeline.ts';
import { aboutServer, unknownServer, unlessNoDaemon } from '../ask.daemon.ts';
import type { Command, Context, Output } from '../command.ts';
import { CommandError, exitCode, usedWrongly } from '../failure.ts';
import { eventsBetween, lastPosition, timeOf } from '../log.reader.ts';
import { parseSpan } from '../moment.ts';
import { withLog } from '../offline.log.ts';
import { offlineReplay } from '../offline.replay.ts';
import { atOf, flag, moment, type Options, pairs, text } from '../options.ts';
import { type Pace, playing } from '../replay.play.ts';
import { lacksText, verdictText, whatIfText } from '../replay.text.ts';

/** The wish for other limits: numbers are milliseconds, spans such as `5s` are fine too. */
function changesOf(options: Options): Changes | undefined {
  if (options.whatIf === undefined) return undefined;
  const set = Object.fromEntries(
    Object.entries(pairs(options, 'whatIf')).map(([key, value]) => [
      key,
      /^\d+$/.test(value) ? Number(value) : (parseSpan(value) ?? Number.NaN),
    ]),
  );
  const wrong = wrongIn(set);
  if (wrong !== null) throw usedWrongly(`--what-if: ${wrong}`, 'replay --help');
  return set;
}

function speedOf(options: Options): number | undefined {
  const value = text(options, 'speed');
  if (value === undefined) return undefined;
  const speed = Number(value.replace(/^[x×]|[x×]$/i, ''));
  if (!(speed > 0 && speed < 1e9)) throw usedWrongly(`--speed ${value}: not a number above 0.`);
  return speed;
}

function paceOf({ terminal, json, keys }: Context, options: Options): Pace {
  const speed = speedOf(options);
  if (flag(options, 'step')) {
    if (speed !== undefined) throw usedWrongly('--step and --speed do not go together.');
    if (json || keys === null || !terminal.live)
      throw usedWrongly('--step wants a terminal: somebody has to press a key.', 'replay <server>');
    return { kind: 'keys', keys: keys() };
  }
  return json || !terminal.live ? { kind: 'at-once' } : { kind: 'timed', speed: speed ?? 1 };
}

interface Stretch {
  readonly facts: readonly Told[];
  /** Milliseconds since the epoch. */
  readonly since: number | undefined;
}

/** The facts of a server up to `--to`: what was before `--from` is needed for the state it began in. */
function stretch(context: Context, name: string, options: Options): Promise<Stretch> {
  const from = moment(options, 'from', context.now());
  const to = moment(options, 'to', context.now());
  return withLog(context, async (read) => {
    const since = from && (await timeOf(read, from));
    const last = await lastPosition(read);
    const upTo = to && 'position' in to ? Math.min(to.position, last) : last;
    const before = to && 'time' in to ? to.time : Number.POSITIVE_INFINITY;
    if (from && since === undefined) return { facts: [], since };
    const facts: Told[] = [];
    for await (const event of eventsBetween(read, 0, upTo, { stream: `server-${name}` })) {
      const at = Date.parse(event.at);
      if (at > before) break;
      facts.push({ ...event, at });
    }
    return { facts, since };
  });
}

/** What is not right with a bundle is the end of a command, in words. */
async function ofBundle<T>(work: () => Promise<T>): Promise<T> {
  const { BundleError } = await import('../../replay/bundle.format.ts');
  try {
    return await work();
  } catch (error) {
    throw error instanceof BundleError ? new CommandError(error.message, { next: ['bundle <server>'] }) : error;
  }
}

/** The facts of a server out of a bundle. A position is one of the log the bundle was made of. */
async function bundled(context: Context, file: string, options: Options): Promise<Stretch> {
  const { factsOfBundle } = await import('../../replay/bundle.ts');
  const facts = await ofBundle(() => factsOfBundle(resolve(context.cwd, file)));
  const servers = facts.filter(({ stream }) => stream.startsWith('server-'));
  const from = moment(options, 'from', context.now());
  const to = moment(options, 'to', context.now());
  const before = ({ position, at }: Told): boolean =>
    to === undefined || ('position' in to ? position <= to.position : at <= to.time);
  const first = from && 'position' in from ? servers.find(({ position }) => position >= from.position)?.at : undefined;
  const since = from && ('time' in from ? from.time : (first ?? Number.POSITIVE_INFINITY));
  return { facts: servers.filter(before), since };
}

/** A server that was never there must not look like one to which nothing happened. */
async function mustBeKnown({ api }: Context, name: string): Promise<void> {
  const known = await api.status().catch(() => null);
  const names = known?.servers.map((server) => server.name) ?? [];
  if (!names.includes(name)) throw unknownServer(name, names, 'replay');
}

/** Plays facts, wherever they come from. */
export function play(context: Context, { facts, since }: Stretch, pace: Pace): Output {
  const lines = timeline(facts, since);
  if (pace.kind === 'at-once') {
    const all: readonly Line[] = [...lines];
    if (context.json) {
      const shown = all.map((line) => ({ ...line, at: new Date(line.at).toISOString() }));
      return { kind: 'answer', json: { lines: shown }, text: () => '' };
    }
    if (all.length === 0) return { kind: 'answer', json: null, text: () => 'Nothing happened in that time.\n' };
    return { kind: 'stream', pieces: playing(all, pace, new AbortController().signal) };
  }
  return { kind: 'stream', pieces: playing(lines, pace, context.untilInterrupted()) };
}

/** Verifies a bundle, or asks what if. */
async function replayedBundle(context: Context, file: string, options: Options): Promise<Output> {
  const set = changesOf(options);
  const [from, to] = [moment(options, 'from', context.now()), moment(options, 'to', context.now())];
  const by = flag(options, 'fast') || !flag(options, 'verify') ? 'table' : 'machine';
  const [{ readBundleFile }, { replayingBundle }, { atOnce }] = await Promise.all([
    import('../../replay/bundle.ts'),
    import('../../replay/bundle.replay.ts'),
    import('../../replay/unhurried.ts'),
  ]);
  return ofBundle(async () => {
    const bundle = await readBundleFile(resolve(context.cwd, file));
    const found = atOnce(replayingBundle(bundle, { from, to, by, set })) as Replayed;
    return answer(found, bundle.manifest.server, options);
  });
}

async function replayed(context: Context, name: string | undefined, options: Options): Promise<Replayed> {
  const set = changesOf(options);
  const [from, to] = [moment(options, 'from', context.now()), moment(options, 'to', context.now())];
  // Whoever asks what if did not ask for proof: the table is enough.
  const fast = flag(options, 'fast') || !flag(options, 'verify');
  const ask = () => context.api.replay({ name, from: atOf(from), to: atOf(to), fast, set });
  return unlessNoDaemon(
    context.api,
    () => (name === undefined ? ask() : aboutServer(context.api, name, 'replay', ask)),
    (why) => offlineReplay(context.files.databaseFile, { name, from, to, fast, set }, why),
  );
}

function answer(found: Replayed, name: string | undefined, options: Options): Output {
  const { whatIf, divergence } = found;
  const showsVerdict = flag(options, 'verify') || divergence !== undefined;
  return {
    kind: 'answer',
    json: found,
    text: (view) =>
      [
        showsVerdict ? verdictText(found, name ?? 'the log', view) : '',
        showsVerdict && whatIf ? '\n' : '',
        whatIf && name !== undefined ? whatIfText(whatIf, name, view) : '',
        lacksText(found),
      ].join(''),
    notes:
      divergence && divergence.position > 0 && found.lacks === undefined
        ? [`See what is there: watchkeeper log --since ${divergence.position} --limit 3`]
        : [],
    exit: found.ok ? exitCode.done : exitCode.failed,
  };
}

function onlyForPlaying(options: Options): void {
  if (flag(options, 'step') || options.speed !== undefined)
    throw usedWrongly('--step and --speed are for playing, not for --verify or --what-if.');
}

export const replay: Command = {
  description: {
    name: 'replay',
    group: 'Log',
    summary: 'play what happened, verify the log, or ask what other limits would have changed',
    arguments: [{ name: '[server]', about: 'its name; only --verify goes without one, for the whole log' }],
    options: [
      { flags: '--from <T>', about: 'begin at this moment' },
      { flags: '--to <T>', about: 'nothing after this moment' },
      { flags: '--bundle <file>', about: 'of what is in a bundle, without the log it came from' },
      { flags: '--speed <N>', about: 'on a terminal: N times as fast as it was, 1 unless given' },
      { flags: '--step', about: 'on a terminal: a line a key; space or enter for the next, q for the end' },
      { flags: '--verify', about: 'fold the facts through the machine of today; exit 1 where they lead elsewhere' },
      { flags: '--fast', about: 'with --verify: fold by the table of the machine' },
      {
        flags: '--what-if <key=value...>',
        about: 'live it once more with other limits, such as connectTimeoutMs=5000 or backoffMaxMs=10s',
        repeats: true,
      },
    ],
    examples: [
      { line: 'replay github --from yesterday --speed 60', about: 'an hour a minute' },
      { line: 'replay github --step', about: 'line by line' },
      { line: 'replay --bundle watchkeeper-github.tar.gz', about: 'what somebody else reported' },
      { line: 'replay --bundle watchkeeper-github.tar.gz --verify', about: 'as far as its facts allow' },
      { line: 'replay --verify', about: 'hold the whole log against the machines' },
      { line: 'replay github --what-if connectTimeoutMs=5000', about: 'would a shorter limit have helped?' },
    ],
  },
  async run(context, { positional: [name] }, options) {
    const asks = options.whatIf !== undefined;
    const verifies = flag(options, 'verify');
    const file = text(options, 'bundle');
    if (file !== undefined) {
      if (name !== undefined)
        throw usedWrongly('A bundle is about one server; leave its name out.', 'replay --bundle FILE');
      if (flag(options, 'fast') && !verifies) throw usedWrongly('--fast goes with --verify.', 'replay --help');
      if (asks || verifies) {
        onlyForPlaying(options);
        return replayedBundle(context, file, options);
      }
      return play(context, await bundled(context, file, options), paceOf(context, options));
    }
    if (flag(options, 'fast') && !verifies) throw usedWrongly('--fast goes with --verify.', 'replay <server> --verify');
    if (name === undefined && (asks || !verifies)) throw usedWrongly('Which server?', 'status', 'replay --verify');
    if (asks || verifies) {
      onlyForPlaying(options);
      return answer(await replayed(context, name, options), name, options);
    }
    const server = name ?? '';
    const found = await stretch(context, server, options);
    if (found.facts.length === 0) await mustBeKnown(context, server);
    return play(context, found, paceOf(context, options));
  },
};
