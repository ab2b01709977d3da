import { describe, expect, it, onTestFinished } from 'vitest';
import { Heartbeat } from '../../src/hub/heartbeat.ts';
import { type SessionLimits, Sessions } from '../../src/hub/sessions.ts';
import { Cancel } from '../../src/mcp/cancel.ts';

function given(limits: Partial<SessionLimits> = {}) {
  const clock = { now: 1_000_000 };
  const ended: string[] = [];
  const heartbeat = new Heartbeat(60_000);
  const sessions = new Sessions(
    { idleMs: 10_000, most: 3, ...limits },
    () => clock.now,
    ({ id }) => ended.push(id),
  );
  onTestFinished(() => sessions.close());
  const open = () =>
    sessions.open({ server: undefined, client: 'main', revision: '2025-11-25', capabilities: {}, heartbeat });
  return { clock, ended, sessions, open };
}

describe('a session', () => {
  it('is forgotten once nobody used it for long', () => {
    const { clock, ended, sessions, open } = given();
    const session = open();
    clock.now += 9_000;
    sessions.sweep();
    expect(sessions.find(session.id, 'main', undefined)).toBe(session);
    clock.now += 2_000;
    sessions.sweep();
    expect(ended).toEqual([session.id]);
    expect(session.ended.signal.aborted).toBe(true);
  });

  it('is kept as long as a request of it runs', () => {
    const { clock, sessions, open } = given();
    const session = open();
    session.running.add({ id: 1, cancel: new Cancel() });
    clock.now += 60_000;
    sessions.sweep();
    expect(sessions.size).toBe(1);
  });

  it('is found with its own token and endpoint only', () => {
    const { sessions, open } = given();
    const { id } = open();
    expect(sessions.find(id, 'other', undefined)).toBeUndefined();
    expect(sessions.find(id, 'main', 'server')).toBeUndefined();
  });
});

describe('five hundred abandoned sessions', () => {
  it('are all forgotten', () => {
    const { clock, sessions, open } = given({ most: 1_000 });
    for (let n = 0; n < 500; n += 1) open();
    clock.now += 11_000;
    sessions.sweep();
    expect(sessions.size).toBe(0);
  });

  it('make room one by one when there are too many', () => {
    const { clock, ended, sessions, open } = given();
    const first = open();
    clock.now += 5_500;
    for (let n = 0; n < 2; n += 1) open();
    clock.now += 5_500;
    open();
    expect(ended).toEqual([first.id]);
    expect(sessions.size).toBe(3);
  });
});
