import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallCommand, CallWorld, Settlement } from '../../../src/actors/call/call.commands.ts';
import { decideCall } from '../../../src/actors/call/call.decide.ts';
import { callRules } from '../../../src/actors/call/call.rules.ts';
import { blankCall } from '../../../src/actors/call/call.state.ts';
import { type Heard, step } from '../../../src/actors/head.ts';
import { isRefusal } from '../../../src/actors/refusal.ts';
import {
  type CallFact,
  type CallFinding,
  type CallRequest,
  callFacts,
  outcome,
  type PermissionMode,
} from '../../../src/events/call.events.ts';
import { specifyRules } from '../../given.ts';
import {
  approved,
  callerLeft,
  callerReturned,
  closed,
  grant,
  held,
  request,
  resent,
  settled,
  started,
  world,
} from '../../support/call.facts.ts';

const blankHead = { ...callRules.initial, version: 0 };

/** given / when / then in a world of one's own; a server that is ready, and no grant, where nothing is said. */
const within = (over: Partial<CallWorld> = {}) => specifyRules(callRules, { world: world(over) });
const { given } = within();

const ask = (over: Partial<CallRequest> = {}, more: { wait?: boolean } = {}): CallCommand => ({
  type: 'RequestCall',
  request: request(over),
  wait: more.wait ?? true,
  holdMs: 60_000,
});
const approve: CallCommand = { type: 'ApproveCall', by: 'ann', remember: 'once' };
const startApproved: CallCommand = { type: 'StartApproved' };
const deny: CallCommand = { type: 'DenyCall', by: 'ann', reason: 'no' };
const cancel: CallCommand = { type: 'CancelCall', by: 'ann' };
const close = (finding: CallFinding, note?: string): CallCommand => ({ type: 'CloseCall', by: 'ann', finding, note });
const left: CallCommand = { type: 'ReportCallerLeft' };
const returned: CallCommand = { type: 'ReportCallerReturned' };
const holdElapsed: CallCommand = { type: 'ReportHoldElapsed' };
const closeOpenEnd: CallCommand = { type: 'CloseOpenEnd' };
const end = (settlement: Settlement): CallCommand => ({ type: 'ReportSettled', settlement });

const notConnected = (state: string): string => `Server "a" is not connected (${state}); nothing was sent.`;

describe('a call that is asked for', () => {
  it.each<PermissionMode>(['deny', 'ask', 'allow-all'])('runs in mode %s when a grant covers it', (mode) => {
    within({ grants: [grant] })
      .given()
      .when(ask({ mode }))
      .then(started({ mode, verdict: 'granted' }));
  });

  it('runs without a grant in mode allow-all', () => {
    given()
      .when(ask({ mode: 'allow-all' }))
      .then(started({ mode: 'allow-all', verdict: 'allow-all' }));
  });

  it('waits for a person in mode ask, as long as it may be held', () => {
    given().when(ask()).then(held());
    given()
      .when(ask({}, { wait: false }))
      .then(held({ caller: 'detached' }));
  });

  it('says what is unusual about it while it waits', () => {
    within({ grants: [{ ...grant, state: 'suspended', binding: { identity: 'i', definition: 'old' } }] })
      .given()
      .when(ask())
      .then(held({ unusual: ['mcp__a__get was allowed, but the tool changed since.'] }));
  });

  it('is refused without a grant in mode deny, and that is the whole call', () => {
    const { answer } = given().when(ask({ mode: 'deny' }));
    expect(answer).toMatchObject([
      { type: 'CallSettled', data: { outcome: 'refused', request: request({ mode: 'deny' }) } },
    ]);
  });

  it.each<[string, Partial<CallWorld>]>([
    ['its server is not known', { server: null }],
    ['its tool is not listed', { definition: null }],
  ])('is refused when %s, whatever the mode', (_what, over) => {
    for (const mode of ['deny', 'ask', 'allow-all'] as const) {
      const { answer } = within({ ...over, grants: [grant] })
        .given()
        .when(ask({ mode }));
      expect(answer).toMatchObject([{ type: 'CallSettled', data: { outcome: 'refused' } }]);
    }
  });

  it.each(['connecting', 'backing-off', 'auth-required', 'failed', 'stopping', 'disabled'])(
    'surely did not run when its server is %s',
    (state) => {
      within({ server: { state, connection: 3, identity: 'i' }, grants: [grant] })
        .given()
        .when(ask())
        .then(settled({ outcome: 'failed', request: request(), reason: notConnected(state) }));
    },
  );

  it('is held even while its server is away: there may be one by the time it is approved', () => {
    within({ server: { state: 'backing-off', connection: 3, identity: 'i' } })
      .given()
      .when(ask())
      .then(held());
  });

  it('is judged by what server and tool are now, not by what the caller saw', () => {
    const now = { server: { state: 'ready', connection: 3, identity: 'i2' }, definition: 'd2' };
    within({ ...now, grants: [grant] })
      .given()
      .when(ask())
      .then(
        held({
          identity: 'i2',
          definition: 'd2',
          unusual: ['mcp__a__get was allowed, but the server changed since.'],
        }),
      );
    within(now)
      .given()
      .when(ask({ mode: 'allow-all' }))
      .then(started({ mode: 'allow-all', verdict: 'allow-all', identity: 'i2', definition: 'd2' }));
  });

  it('is asked for once', () => {
    for (const past of [[held()], [started()], [settled({ outcome: 'refused' })]]) {
      given(...past)
        .when(ask())
        .thenNothing();
    }
  });
});

describe('a held call that is approved', () => {
  it('runs at once while its caller waits, or when the caller did not want to wait', () => {
    given(held()).when(approve).then(approved(), started());
    given(held({ caller: 'detached' }))
      .when(approve)
      .then(approved(), started());
  });

  it('runs only when the same call comes again if its caller left', () => {
    given(held(), callerLeft).when(approve).then(approved());
    given(held(), callerLeft, approved()).when(returned).then(callerReturned);
    given(held(), callerLeft, approved(), callerReturned).when(startApproved).then(started());
  });

  it('runs at once if its caller left and came again before', () => {
    given(held(), callerLeft, callerReturned).when(approve).then(approved(), started());
  });

  it('waits for its server, and surely did not run if that does not come', () => {
    const away = within({ server: { state: 'reconnecting', connection: 3, identity: 'i' } });
    away.given(held()).when(approve).then(approved());
    away
      .given(held(), approved())
      .when(startApproved)
      .then(settled({ outcome: 'failed', reason: notConnected('reconnecting') }));
    given(held(), approved()).when(startApproved).then(started());
  });

  it('surely did not run if its server is gone by then', () => {
    const gone = within({ server: null, definition: null });
    gone.given(held()).when(approve).then(approved());
    gone
      .given(held(), approved())
      .when(startApproved)
      .then(settled({ outcome: 'failed', reason: notConnected('not known') }));
  });

  it('goes out on the connection there is then', () => {
    within({ server: { state: 'ready', connection: 9, identity: 'i' } })
      .given(held(), approved())
      .when(startApproved)
      .then(started({ connection: 9 }));
  });

  const changes: [string, Partial<CallWorld>, string][] = [
    [
      'its server is another one now',
      { server: { state: 'ready', connection: 3, identity: 'i2' } },
      'The entry of server "a" changed after the call was asked for.',
    ],
    [
      'its tool is another one now',
      { definition: 'd2' },
      'The definition of mcp__a__get changed after the call was asked for.',
    ],
    ['its tool is gone', { definition: null }, 'Server "a" no longer offers mcp__a__get.'],
  ];
  it.each(changes)('does not run when %s: the approval was for something else', (_what, over, reason) => {
    const changed = within(over);
    const refused = settled({ outcome: 'refused', reason });
    changed.given(held()).when(approve).then(approved(), refused);
    changed.given(held(), callerLeft).when(approve).then(approved(), refused);
    changed.given(held(), approved()).when(startApproved).then(refused);
  });

  it('runs once: a second start finds it running', () => {
    given(held(), approved(), started()).when(startApproved).thenNothing();
    given(held(), approved(), started(), settled()).when(startApproved).thenNothing();
  });

  it('does not run without an approval', () => {
    given(held()).when(startApproved).thenNothing();
    given().when(startApproved).thenNothing();
  });

  it.each<[string, CallFact[]]>([
    ['approved', [held(), callerLeft, approved()]],
    ['running', [held(), approved(), started()]],
    ['settled', [held(), settled({ outcome: 'denied' })]],
    ['requested', []],
  ])('can not be approved when it is %s: one of two approvers wins', (state, past) => {
    expect(
      given(...past)
        .when(approve)
        .thenRefused('call-not-held'),
    ).toMatch(state);
  });

  it('remembers what the person wants remembered', () => {
    for (const remember of ['once', 'tool', 'server'] as const) {
      given(held()).when({ type: 'ApproveCall', by: 'bob', remember }).then(approved('bob', remember), started());
    }
  });
});

describe('a held call that comes to nothing', () => {
  it.each<[string, CallFact[]]>([
    ['held', [held()]],
    ['approved', [held(), callerLeft, approved()]],
  ])('is denied, cancelled or abandoned by what is told: %s', (_state, past) => {
    given(...past)
      .when(deny)
      .then(settled({ outcome: 'denied', by: 'ann', reason: 'no' }));
    given(...past)
      .when({ type: 'DenyCall', by: 'ann' })
      .then(settled({ outcome: 'denied', by: 'ann' }));
    given(...past)
      .when(cancel)
      .then(settled({ outcome: 'cancelled', by: 'ann', reason: 'Cancelled before it was sent.' }));
    given(...past)
      .when(end({ outcome: 'abandoned', reason: 'bye' }))
      .then(settled({ outcome: 'abandoned', reason: 'bye' }));
  });

  it('expires, with or without an approval that nobody came back for', () => {
    given(held())
      .when(holdElapsed)
      .then(settled({ outcome: 'expired', reason: 'Nobody approved it in time.' }));
    given(held(), callerLeft, approved())
      .when(holdElapsed)
      .then(settled({ outcome: 'expired', reason: 'Approved, but it was not asked for again in time.' }));
  });

  it.each<[string, CallFact[]]>([
    ['running', [held(), approved(), started()]],
    ['settled', [held(), settled({ outcome: 'denied' })]],
    ['requested', []],
  ])('does not expire when it is %s', (_state, past) => {
    given(...past)
      .when(holdElapsed)
      .thenNothing();
  });

  it.each<[string, CallFact[]]>([
    ['running', [started()]],
    ['settled', [held(), settled({ outcome: 'expired' })]],
    ['requested', []],
  ])('can not be denied when it is %s', (_state, past) => {
    given(...past)
      .when(deny)
      .thenRefused('call-not-held');
  });

  it('is left by its caller, and returned to, once each', () => {
    given(held()).when(left).then(callerLeft);
    given(held(), callerLeft).when(left).thenNothing();
    given(held()).when(returned).thenNothing();
    given(held(), callerLeft).when(returned).then(callerReturned);
    given(held({ caller: 'detached' }))
      .when(left)
      .thenNothing();
    given(held({ caller: 'detached' }))
      .when(returned)
      .then(callerReturned);
    given(held(), approved(), started()).when(left).thenNothing();
    given(held(), approved(), started()).when(returned).thenNothing();
  });
});

describe('a call that runs', () => {
  it('ends as reported, with the time it took', () => {
    const { given: later } = specifyRules(callRules, { world: world(), stamp: { at: 1_000, id: 'c', random: 0 } });
    const settlement: Settlement = { outcome: 'succeeded', resultBytes: 3, resultHash: 'x', truncated: false };
    later(started())
      .when(end(settlement))
      .then(settled({ ...settlement, tookMs: 0 }));
    const head = step(callRules, blankHead, { ...started(), at: 1_000 } as Heard<CallFact>);
    expect(decideCall(head, end(settlement), { at: 1_250, id: 'c', random: 0 }, world())).toEqual([
      settled({ ...settlement, tookMs: 250 }),
    ]);
  });

  it('ends once', () => {
    given(started(), settled())
      .when(end({ outcome: 'unknown' }))
      .thenNothing();
  });

  it('is not settled by being cancelled: its end is reported by the one who waits for it', () => {
    given(started()).when(cancel).thenNothing();
    given(started(), settled()).when(cancel).thenRefused('call-not-held');
  });

  it('is sent again on a new connection while it runs and not after', () => {
    const again: CallCommand = { type: 'ReportResent', connection: 4, reason: 'gone' };
    given(started()).when(again).then(resent());
    given(started(), resent(), settled()).when(again).thenNothing();
    given(held()).when(again).thenNothing();
  });
});

describe('after the daemon died', () => {
  it.each<[string, CallFact[]]>([
    ['held', [held()]],
    ['approved', [held(), callerLeft, approved()]],
  ])('a call that was %s is abandoned: it surely did not run', (_state, past) => {
    given(...past)
      .when(closeOpenEnd)
      .then(settled({ outcome: 'abandoned', reason: 'The daemon ended while the call waited for a person.' }));
  });

  it('a call that ran has an unknown outcome: it may have run', () => {
    given(started())
      .when(closeOpenEnd)
      .then(settled({ outcome: 'unknown', reason: 'The daemon ended while the call ran: it may have run.' }));
  });

  it('a call that had ended stays as it was', () => {
    given(started(), settled()).when(closeOpenEnd).thenNothing();
    given().when(closeOpenEnd).thenNothing();
  });
});

// --- any sequence at all ---------------------------------------------------------------------------------------------

const worlds: fc.Arbitrary<CallWorld> = fc.record({
  grants: fc.constantFrom([], [grant]),
  server: fc.option(
    fc.record({
      state: fc.constantFrom('ready', 'ready', 'ready', 'connecting', 'failed'),
      connection: fc.nat(3),
      identity: fc.constantFrom('i', 'i', 'i', 'i2'),
    }),
    { freq: 8 },
  ),
  definition: fc.constantFrom('d', 'd', 'd', 'd2', null),
});
const modes = fc.constantFrom<PermissionMode>('deny', 'ask', 'ask', 'allow-all');
const commands: fc.Arbitrary<CallCommand> = fc.oneof(
  fc.tuple(modes, fc.boolean()).map(([mode, wait]) => ask({ mode }, { wait })),
  fc.tuple(modes, fc.boolean()).map(([mode, wait]) => ask({ mode }, { wait })),
  fc.constantFrom(approve, approve, startApproved, deny, cancel, left, returned, holdElapsed, closeOpenEnd),
  fc.constant<CallCommand>({ type: 'ReportResent', connection: 7, reason: 'gone' }),
  fc.constantFrom(...outcome.options).map((kind) => end({ outcome: kind })),
  fc.constantFrom<CallFinding>('ran', 'not-run', 'cannot-tell').map((finding) => close(finding)),
);

describe('a call whose outcome is unknown', () => {
  const unknown = settled({ outcome: 'unknown', reason: 'lost' });

  it('is closed by a person, with what they found and wrote', () => {
    given(started(), unknown)
      .when(close('ran', 'I saw it.'))
      .then(closed({ finding: 'ran', note: 'I saw it.' }));
    given(started(), unknown)
      .when(close('cannot-tell'))
      .then(closed({ finding: 'cannot-tell' }));
  });

  it('is closed once', () => {
    given(started(), unknown, closed()).when(close('ran')).thenRefused('call-not-open');
  });

  it.each<[string, CallFact[]]>([
    ['runs', [started()]],
    ['is held', [held()]],
    ['was answered', [started(), settled()]],
    ['surely did not run', [started(), settled({ outcome: 'failed' })]],
  ])('is no call that %s', (_how, facts) => {
    given(...facts)
      .when(close('ran'))
      .thenRefused('call-not-open');
  });
});

describe('a call of one who has called too often', () => {
  const barred: CallCommand = { ...(ask() as Extract<CallCommand, { type: 'RequestCall' }>), barred: 'Too much.' };

  it('is refused with the reason, granted or not', () => {
    within({ grants: [grant] })
      .given()
      .when(barred)
      .then(settled({ outcome: 'refused', request: request(), reason: 'Too much.' }));
  });
});

describe('a call that is held', () => {
  it('says what is worth a look besides what the gate saw', () => {
    const asked: CallCommand = { ...(ask() as Extract<CallCommand, { type: 'RequestCall' }>), remarks: ['It is new.'] };
    given()
      .when(asked)
      .then(held({ expiresAt: 61_000, unusual: ['It is new.'] }));
  });
});

describe('any sequence of commands', () => {
  it('leads only to facts that are heard and fit the catalogue, and their fold is the head', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(commands, worlds), { maxLength: 25 }), (sequence) => {
        let head = blankHead;
        const log: Heard<CallFact>[] = [];
        for (const [index, [command, now]] of sequence.entries()) {
          const at = 1_000 + index;
          const answer = decideCall(head, command, { at, id: 'c', random: 0.5 }, now);
          if (isRefusal(answer)) continue;
          for (const fact of answer) {
            const heard = { ...fact, at } as Heard<CallFact>;
            head = step(callRules, head, heard);
            log.push(heard);
            callFacts[fact.type].data.parse(fact.data);
          }
        }
        expect(log.reduce((folded, fact) => step(callRules, folded, fact), blankHead)).toEqual(head);

        const types = log.map(({ type }) => type);
        expect(types.filter((type) => type === 'CallStarted').length).toBeLessThanOrEqual(1);
        expect(types.filter((type) => type === 'CallSettled').length).toBeLessThanOrEqual(1);
        expect(types.filter((type) => type === 'CallClosed').length).toBeLessThanOrEqual(1);
        // Nothing follows the end but what a person says about it.
        const lived = types.filter((type) => type !== 'CallClosed');
        if (types.includes('CallSettled')) expect(lived.at(-1)).toBe('CallSettled');
        // What was asked for is known from the first fact on.
        if (log.length > 0) expect(head.context.request).not.toBeNull();
        else expect(head.context).toEqual(blankCall);
      }),
      { numRuns: 5_000 },
    );
  }, 120_000);

  it('starts a held call only after an approval, and only for the server and tool it was asked for', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(commands, worlds), { maxLength: 25 }), (sequence) => {
        let head = blankHead;
        let wasHeld: CallRequest | null = null;
        let wasApproved = false;
        for (const [command, now] of sequence) {
          const answer = decideCall(head, command, { at: 1, id: 'c', random: 0.5 }, now);
          if (isRefusal(answer)) continue;
          for (const fact of answer) {
            if (fact.type === 'CallHeld') wasHeld = fact.data;
            if (fact.type === 'CallApproved') wasApproved = true;
            if (fact.type === 'CallStarted' && wasHeld !== null) {
              expect(wasApproved).toBe(true);
              expect(fact.data.verdict).toBe('approved');
              expect([now.server?.identity, now.definition]).toEqual([wasHeld.identity, wasHeld.definition]);
            }
            if (fact.type === 'CallStarted') expect(now.server?.state).toBe('ready');
            head = step(callRules, head, { ...fact, at: 1 } as Heard<CallFact>);
          }
        }
      }),
      { numRuns: 5_000 },
    );
  }, 120_000);
});
