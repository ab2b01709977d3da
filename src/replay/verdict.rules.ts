/**
 * The table of verdicts, in the order in which they are looked through: what cannot be otherwise comes first, what is
 * only likely after it, and what is said when nothing else fits at the end. Pure.
 */
import type { Hint } from './correlation.ts';
import type { SeenFailure } from './past.ts';
import type { Advice, Case, Check, Confidence, Proof, Rule, Verdict } from './verdict.ts';
import { roundedDuration } from './words.ts';

type Parts = Partial<Pick<Verdict, 'ok' | 'why' | 'evidence' | 'advice'>>;

const verdict = (kind: string, confidence: Confidence, text: string, parts: Parts = {}): Verdict => ({
  kind,
  ok: false,
  verdict: text,
  confidence,
  why: [],
  evidence: [],
  advice: [],
  ...parts,
});

const command = (text: string, line: string): Advice => ({ text, command: `watchkeeper ${line}` });
const setting = (text: string, line: string): Advice => ({ text, setting: line });
const logOf = ({ name }: Case): Advice => command('Read what happened', `log ${name}`);
const again = ({ name }: Case): Advice => command('Then connect again', `reconnect ${name}`);

/** An entry with a login names its command in the failure; another one needs a token of its own, or the mark. */
const loginAdvice = (seen: Case): Advice[] =>
  seen.lastFailure?.failure.message.includes(`; log in: watchkeeper login ${seen.name}`)
    ? [command('Log in; the server is connected as soon as you have', `login ${seen.name}`)]
    : [
        setting('Give it a token, by the name of a variable', `"headers": {"Authorization": "Bearer \${TOKEN}"}`),
        setting('Or, where it lets people log in in the browser', `"auth": "oauth"`),
        again(seen),
      ];

const lastOf = ({ lastFailure }: Case): Proof[] =>
  lastFailure ? [{ position: lastFailure.position, at: lastFailure.at, text: lastFailure.failure.message }] : [];
const rowsOf = (failure: SeenFailure): Proof[] => [
  { position: failure.first.position, at: failure.first.at, text: `first: ${failure.message}` },
  ...(failure.count > 1
    ? [{ position: failure.last.position, at: failure.last.at, text: `last of ${failure.count}: ${failure.example}` }]
    : []),
];
const rowsOfHint = (hint: Hint): Proof[] =>
  [...new Set([...hint.related.slice(-3), ...hint.positions.slice(-5)])]
    .sort((a, b) => a - b)
    .map((position) => ({ position, at: null, text: hint.positions.includes(position) ? 'lost' : 'linked to it' }));

const whyOf = (check: Check): string => `The check "${check.name}" failed.`;
const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
const surer = (hint: Hint): Confidence => (hint.support >= 8 && hint.support >= 0.8 * hint.of ? 'high' : 'medium');
const reasonOf = (hint: Hint): string =>
  `${hint.support} of ${hint.of} losses fit; chance would give that at most once in ${Math.round(1 / Math.max(hint.chance, 1e-12)).toLocaleString('en-US')} times.`;

/** A failed check that explains why it is down; surer when the failure says the same. */
const checked = (
  name: string,
  kind: string,
  classes: readonly string[],
  parts: (check: Check, seen: Case) => Parts,
): Rule => ({
  when(seen) {
    const check = seen.failed(name);
    if (!check || seen.ready) return null;
    const agrees = seen.lastFailure !== null && classes.includes(seen.lastFailure.failure.class);
    return verdict(kind, agrees ? 'high' : 'medium', check.detail, {
      why: [whyOf(check), ...(agrees ? ['The last failure is of that kind.'] : ['No failure in the log says so yet.'])],
      evidence: agrees ? lastOf(seen) : [],
      ...parts(check, seen),
    });
  },
});

const fromCheck = ({ next }: Check, seen: Case): Parts => ({
  advice: [...(next === null ? [] : [{ text: next }]), again(seen)],
});

const isNamed = (seen: Case, kind: string): boolean => seen.down && seen.error?.class === kind;

export const rules: readonly Rule[] = [
  {
    alone: true,
    when: (seen) =>
      seen.state === 'disabled'
        ? verdict('disabled', 'high', 'is disabled: it is known and not run', {
            ok: true,
            why: ['Its state is "disabled".'],
            advice: [command('To let it run', `enable ${seen.name}`)],
          })
        : null,
  },
  {
    alone: true,
    when({ problem }) {
      const variable = /the variable (\w+), which is not set/.exec(problem?.message ?? '')?.[1];
      if (!problem) return null;
      return verdict('entry-error', 'high', `its entry cannot be used: ${problem.message}`, {
        why: [`The field ${problem.field} of its entry is wrong; nothing is started for it.`],
        advice: [
          ...(variable === undefined
            ? []
            : [{ text: `Set ${variable} where the daemon runs, or in watchkeeper.env (${variable}=…)` }]),
          command('Check the file', 'config check'),
        ],
      });
    },
  },
  checked('command', 'command-missing', ['spawn'], fromCheck),
  checked('cwd', 'folder-missing', ['spawn'], fromCheck),
  checked('script', 'script-missing', ['exit', 'spawn'], fromCheck),
  checked('runtime', 'runtime-unfit', ['exit', 'spawn', 'handshake'], fromCheck),
  {
    when: (seen) =>
      seen.state === 'auth-required' || isNamed(seen, 'auth')
        ? verdict(
            'login-wanted',
            'high',
            'needs a login: the server refuses without one, and nothing is tried until someone acts',
            {
              why: ['The last failure is of class "auth".'],
              evidence: lastOf(seen),
              advice: loginAdvice(seen),
            },
          )
        : null,
  },
  checked('host', 'host-unknown', ['transport', 'timeout'], fromCheck),
  checked('port', 'port-closed', ['transport', 'timeout'], fromCheck),
  checked('certificate', 'certificate', ['transport'], fromCheck),
  { when: printsElse },
  {
    when(seen) {
      if (!isNamed(seen, 'http-status')) return null;
      const status = seen.lastFailure?.failure.httpStatus ?? null;
      const place = status !== null && status < 500;
      return verdict(
        place ? 'wrong-address' : 'server-broken',
        place ? 'medium' : 'high',
        place
          ? `answers HTTP ${status}: the address is probably not that of an MCP endpoint`
          : `answers HTTP ${status ?? 'with an error'}: the server itself is in trouble`,
        {
          why: ['The last failure is of class "http-status".'],
          evidence: lastOf(seen),
          advice: place
            ? [setting('Check path and host; many servers listen at /mcp', '"url": "https://…/mcp"'), again(seen)]
            : [{ text: 'Look at the log of that server; the daemon keeps trying' }],
        },
      );
    },
  },
  {
    when: (seen) =>
      isNamed(seen, 'overload')
        ? verdict(
            'overload',
            'high',
            'has no room at the moment, or asks for fewer requests; the daemon waits and tries again',
            {
              why: ['The last failure is of class "overload".'],
              evidence: lastOf(seen),
              advice: [setting('Send fewer calls at once', '"maxConcurrency": 1')],
            },
          )
        : null,
  },
  { when: startsSlowly },
  {
    when(seen) {
      const hint = seen.hint('around-call');
      if (!hint) return null;
      return verdict('crashes-on-call', surer(hint), `crashes on a call of ${hint.tool}: ${hint.text}`, {
        why: [reasonOf(hint)],
        evidence: rowsOfHint(hint),
        advice: [
          setting('Hide the tool until it is mended', `"exclude": ["${hint.tool}"]`),
          command('See what the process wrote', `log ${seen.name} --type SessionLost`),
        ],
      });
    },
  },
  { when: forgetsSessions },
  { when: sleepsIn },
  {
    when(seen) {
      const hint = seen.hint('after-connecting');
      if (!hint || isSession(seen) || isIdle(seen)) return null;
      return verdict('fixed-life', surer(hint), `${hint.text}: something ends it at that age`, {
        why: [reasonOf(hint), 'A limit of the server, or of a proxy between, ends connections at a fixed age.'],
        evidence: rowsOfHint(hint),
        advice: [{ text: 'Look for a limit of that length at the server and at what lies between' }, logOf(seen)],
      });
    },
  },
  {
    when(seen) {
      const hint = seen.hint('rhythm');
      if (!hint) return null;
      return verdict('rhythm', surer(hint), `${hint.text}: something outside ends it on a schedule`, {
        why: [reasonOf(hint), 'It does not depend on when it connected.'],
        evidence: rowsOfHint(hint),
        advice: [{ text: 'Look for a timer of that period: a cron job, a deployment, a proxy that reloads' }],
      });
    },
  },
  ...(['since-entry-change', 'since-server-version', 'since-daemon-version'] as const).map(
    (kind): Rule => ({
      when(seen) {
        const hint = seen.hint(kind);
        return hint
          ? verdict('since-change', 'medium', hint.text, {
              why: [reasonOf(hint), 'What changed together need not be the cause.'],
              evidence: rowsOfHint(hint),
              advice: [{ text: 'Go back to what was before, and see whether the losses end' }, logOf(seen)],
            })
          : null;
      },
    }),
  ),
  ...(['after-list-change', 'after-entry-change', 'after-daemon-start', 'after-calls'] as const).map(
    (kind): Rule => ({
      when(seen) {
        const hint = seen.hint(kind);
        return hint
          ? verdict('linked', 'medium', hint.text, {
              why: [reasonOf(hint), 'What happens together need not be the cause.'],
              evidence: rowsOfHint(hint),
              advice: [logOf(seen)],
            })
          : null;
      },
    }),
  ),
  { when: outOfMemory },
  { when: crashLoop },
  {
    when: (seen) =>
      seen.ready && seen.error
        ? verdict('list-fails', 'high', `is connected, but its tool list cannot be read: ${seen.error.message}`, {
            why: ['The list known before is still served.'],
            evidence: lastOf(seen),
            advice: [setting('If it only needs longer', '"listTimeoutMs": 60000'), again(seen)],
          })
        : null,
  },

  // What is said when nothing above fits.
  {
    otherwise: true,
    when: (seen) =>
      seen.watched
        ? null
        : verdict('unwatched', 'low', `was ${seen.state} when the last daemon ended; nothing watches it now`, {
            ok: true,
            why: ['No daemon runs, so only the files and the log could be looked at.'],
            advice: [command('Start the daemon', 'up --detach')],
          }),
  },
  {
    otherwise: true,
    when: (seen) =>
      seen.down && seen.error
        ? verdict('down', 'medium', seen.error.message, {
            why: [`The last failure is of class "${seen.error.class}"; no rule knows more about it.`],
            evidence: lastOf(seen),
            advice: [logOf(seen), again(seen)],
          })
        : null,
  },
  {
    otherwise: true,
    when: (seen) =>
      seen.down
        ? verdict('starting', 'medium', `is ${seen.state}, since ${roundedDuration(seen.now - seen.since)}`, {
            ok: true,
            why: ['Nothing has failed so far.'],
            advice: [command('See how it goes on', `status ${seen.name}`)],
          })
        : null,
  },
  {
    otherwise: true,
    when(seen) {
      const { summary } = seen;
      if (!summary || seen.losses < 3 || summary.flapScore < 50) return null;
      const [most] = seen.failures;
      return verdict(
        'flapping',
        'low',
        `is lost often (${seen.losses} times), without a pattern that chance does not explain`,
        {
          why: [`Its flap score is ${summary.flapScore} of 100.`],
          evidence: most ? rowsOf(most) : [],
          advice: [command('See its failures, counted', `history ${seen.name} --summary`)],
        },
      );
    },
  },
  {
    otherwise: true,
    when(seen) {
      const repair = seen.summary?.mttr ?? null;
      if (!seen.ready || seen.losses === 0) return null;
      const back = repair === null ? '' : `, each time back after ${roundedDuration(repair)} on average`;
      const times = seen.losses === 1 ? 'once' : `${seen.losses} times`;
      return verdict('recovered', 'high', `works; it was lost ${times} in the last days${back}`, {
        ok: true,
        why: [`It has been ready for ${roundedDuration(seen.now - seen.since)}.`],
        evidence: seen.failures.slice(0, 1).flatMap(rowsOf),
      });
    },
  },
  {
    otherwise: true,
    when: (seen) =>
      seen.ready
        ? verdict(
            'well',
            'high',
            `works: ${counted(seen.tools, 'tool')}, ready for ${roundedDuration(seen.now - seen.since)}`,
            {
              ok: true,
              why: ['It was not lost in the last days.'],
            },
          )
        : null,
  },
  {
    otherwise: true,
    when: (seen) =>
      seen.state === 'idle'
        ? verdict('asleep', 'high', 'sleeps until it is used', { ok: true, why: ['Its state is "idle".'] })
        : null,
  },
];

function printsElse(seen: Case): Verdict | null {
  const heard = seen.noise.at(-1);
  if (!heard) return null;
  const evidence = [{ position: null, at: heard.at, text: heard.text }, ...lastOf(seen)];
  const advice = [
    { text: 'Let the server write to stderr what is not JSON-RPC; stdout belongs to the protocol' },
    { text: 'Look for a wrapper or shell that prints a greeting, and for print or console.log in the server' },
  ];
  const why = ['It wrote lines to stdout that are not JSON-RPC; they are skipped.'];
  if (seen.ready)
    return verdict(
      'noisy-stdout',
      'high',
      'prints to stdout what is not JSON-RPC; the lines are skipped, no harm so far',
      {
        ok: true,
        why,
        evidence,
        advice,
      },
    );
  const kind = seen.lastFailure?.failure.class;
  const fits = kind === 'timeout' || kind === 'handshake' || kind === 'protocol';
  return verdict('not-protocol', fits ? 'high' : 'medium', 'prints to stdout what is not JSON-RPC', {
    why: [...why, ...(fits ? ['And it did not answer in the protocol.'] : [])],
    evidence,
    advice,
  });
}

/** From this share of the limit on, the next slow day is a failure. */
const NEAR_LIMIT = 0.8;

function startsSlowly(seen: Case): Verdict | null {
  const { limits, summary } = seen;
  if (!limits || !summary) return null;
  const late = seen.failures.filter(({ class: kind, phase }) => kind === 'timeout' && phase === 'initialize');
  const times = late.reduce((sum, { count }) => sum + count, 0);
  const { count, p90 } = summary.latency.connect;
  const limit = limits.connectTimeoutMs;
  const raise = setting(
    'Give it more time to start',
    `"connectTimeoutMs": ${Math.ceil(Math.max(2 * limit, 2 * (p90 ?? 0)) / 10_000) * 10_000}`,
  );
  const evidence = late.flatMap(rowsOf);
  if (count > 0 && p90 !== null && p90 >= NEAR_LIMIT * limit) {
    const text = `starts slowly: connects at p90 ${roundedDuration(p90)} against a limit of ${roundedDuration(limit)}`;
    const surely = times > 0 || count >= 3;
    return verdict('slow-start', surely ? 'high' : 'medium', text, {
      ok: times === 0 && seen.ready,
      why: [`Measured over ${counted(count, 'connection')}; ${counted(times, 'attempt')} ran into the limit.`],
      evidence,
      advice: [raise],
    });
  }
  if (times === 0 || !seen.down || seen.error?.class !== 'timeout') return null;
  const often =
    count === 0
      ? 'it has never answered'
      : `it has answered ${counted(count, 'time')}, within ${roundedDuration(p90 ?? 0)} mostly`;
  return verdict('no-handshake', 'medium', `does not answer the handshake within ${roundedDuration(limit)}`, {
    why: [`${counted(times, 'attempt')} ran into the limit; ${often}.`],
    evidence,
    advice: [
      raise,
      { text: 'Or it waits for something else than JSON-RPC on stdin, or for a person: start its command by hand' },
    ],
  });
}

/** Every loss that counts is a forgotten session. */
const isSession = ({ failures, losses }: Case): boolean => {
  const forgotten = failures.filter(({ class: kind }) => kind === 'session').reduce((sum, { count }) => sum + count, 0);
  return losses > 0 && forgotten >= 0.8 * losses;
};

/** A repair that takes longer is felt. */
const AT_ONCE_MS = 5_000;

function forgetsSessions(seen: Case): Verdict | null {
  const { summary } = seen;
  if (!summary || !isSession(seen)) return null;
  const hint = seen.hint('after-connecting');
  const every = hint?.ms === undefined ? `${seen.losses} times` : `every ${roundedDuration(hint.ms)}`;
  const harmless = seen.ready && summary.mttr !== null && summary.mttr <= AT_ONCE_MS;
  const [forgotten] = seen.failures.filter(({ class: kind }) => kind === 'session');
  return verdict(
    'session-forgotten',
    hint ? 'high' : 'medium',
    `the server forgets its session ${every}${harmless ? ', renewed each time, no harm' : ', and renewing it takes long or fails'}`,
    {
      ok: harmless,
      why: [
        ...(hint ? [reasonOf(hint)] : [`${seen.losses} losses, most of them of class "session".`]),
        ...(summary.mttr === null ? [] : [`It was ready again after ${roundedDuration(summary.mttr)} on average.`]),
      ],
      evidence: hint ? rowsOfHint(hint) : forgotten ? rowsOf(forgotten) : [],
      advice: harmless ? [] : [{ text: 'Let the server keep sessions for longer' }, logOf(seen)],
    },
  );
}

/** Ends after a while without work: after its last call, or each time at the same age although nobody ever called it. */
const idleHint = (seen: Case): Hint | undefined =>
  seen.hint('after-idle') ?? (seen.summary?.latency.call.count === 0 ? seen.hint('after-connecting') : undefined);
const isIdle = (seen: Case): boolean => idleHint(seen) !== undefined;

function sleepsIn(seen: Case): Verdict | null {
  const hint = idleHint(seen);
  if (!hint || isSession(seen) || hint.ms === undefined) return null;
  const exits = seen.failures.find(({ class: kind }) => kind === 'exit');
  const onPurpose = exits?.code === 'exit 0';
  const after = hint.kind === 'after-idle' ? 'its last call' : 'each start without work';
  const shorter = Math.max(1_000, Math.floor((0.8 * hint.ms) / 1_000) * 1_000);
  return verdict(
    'idle-timeout',
    hint.kind === 'after-idle' || onPurpose ? 'high' : 'medium',
    `ends about ${roundedDuration(hint.ms)} after ${after}: an idle timeout on the server's side`,
    {
      why: [reasonOf(hint), ...(onPurpose ? ['It exits with code 0: on purpose.'] : [])],
      evidence: rowsOfHint(hint),
      advice: [
        setting('Start it only when it is used', '"lazy": true'),
        setting('And let it sleep before it leaves by itself', `"idleStopMs": ${shorter}`),
      ],
    },
  );
}

function outOfMemory(seen: Case): Verdict | null {
  const { lastFailure } = seen;
  if (lastFailure === null || (!seen.down && seen.losses === 0)) return null;
  const { signal, stderrTail = '', message } = lastFailure.failure;
  const says = /out of memory|heap limit|MemoryError|Cannot allocate memory|std::bad_alloc/i.test(
    `${message}\n${stderrTail}`,
  );
  if (!says && signal !== 'SIGKILL') return null;
  return verdict(
    says ? 'out-of-memory' : 'killed',
    says ? 'high' : 'low',
    says ? 'ran out of memory' : 'was ended by SIGKILL: by a person, a script, or the system because memory ran out',
    {
      ok: !seen.down && !says && seen.losses < 3,
      why: [says ? 'Its last words say so.' : 'A process cannot send SIGKILL a reason along.'],
      evidence: lastOf(seen),
      advice: says
        ? [setting('Give a Node server more', '"env": {"NODE_OPTIONS": "--max-old-space-size=4096"}'), logOf(seen)]
        : [{ text: "Look at the system's log for an out-of-memory kill" }],
    },
  );
}

function crashLoop(seen: Case): Verdict | null {
  const { lastFailure } = seen;
  if (!seen.down || lastFailure?.failure.class !== 'exit') return null;
  const { exitCode, signal, message, stderrTail } = lastFailure.failure;
  const most = seen.failures.find(({ last }) => last.position === lastFailure.position);
  const often = (most?.count ?? 1) >= 3;
  const tail = (stderrTail ?? '').trim().split('\n').slice(-3).filter(Boolean);
  const how = signal ? `is ended by ${signal}` : `exits with code ${exitCode ?? 'unknown'}`;
  const last = /(?:exited with code \S+|was ended by \w+): (.+)$/.exec(message)?.[1];
  return verdict(
    often ? 'crash-loop' : 'crashed',
    often ? 'high' : 'medium',
    `${how}${last === undefined ? '' : `: ${last}`}${often ? ', again and again' : ''}`,
    {
      why: [
        `The same failure was seen ${counted(most?.count ?? 1, 'time')}.`,
        ...tail.map((line) => `stderr: ${line}`),
      ],
      evidence: most ? rowsOf(most) : lastOf(seen),
      advice: [
        command('See what it wrote', `log ${seen.name}`),
        { text: 'Start its command by hand, in the same folder and with the same variables' },
        again(seen),
      ],
    },
  );
}
