import { describe, expect, it } from 'vitest';
import { anyOf, Cancel, type CancelSignal, nativeSignal } from '../../src/mcp/cancel.ts';

const reason = new Error('nobody wants it any more');

describe.each([
  ['made here', (): { abort(why: unknown): void; signal: CancelSignal } => new Cancel()],
  ['of the platform', (): { abort(why: unknown): void; signal: CancelSignal } => new AbortController()],
])('a signal %s', (_, make) => {
  it('tells each listener once, in order, and keeps the reason', () => {
    const cancel = make();
    const heard: string[] = [];
    const first = (): void => void heard.push('first');
    cancel.signal.addEventListener('abort', first, { once: true });
    cancel.signal.addEventListener('abort', first, { once: true });
    cancel.signal.addEventListener('abort', () => heard.push('second'), { once: true });
    expect(cancel.signal.aborted).toBe(false);
    expect(() => cancel.signal.throwIfAborted()).not.toThrow();
    cancel.abort(reason);
    cancel.abort(new Error('again'));
    expect(heard).toEqual(['first', 'second']);
    expect(cancel.signal.aborted).toBe(true);
    expect(cancel.signal.reason).toBe(reason);
    expect(() => cancel.signal.throwIfAborted()).toThrow(reason);
  });

  it('does not tell whoever no longer listens, nor whoever comes late', () => {
    const cancel = make();
    const heard: string[] = [];
    const gone = (): void => void heard.push('gone');
    cancel.signal.addEventListener('abort', gone);
    cancel.signal.removeEventListener('abort', gone);
    cancel.abort(reason);
    cancel.signal.addEventListener('abort', () => heard.push('late'));
    expect(heard).toEqual([]);
  });

  it.each([
    ['before', true],
    ['after', false],
  ])('ends what the platform offers when it is asked for %s the end', (_when, early) => {
    const cancel = make();
    if (!early) cancel.abort(reason);
    const native = nativeSignal(cancel.signal);
    if (early) cancel.abort(reason);
    expect(native).toBeInstanceOf(AbortSignal);
    expect(native.aborted).toBe(true);
    expect(native.reason).toBe(reason);
  });
});

describe('several signals', () => {
  it('end with the first of them', () => {
    const one = new Cancel();
    const other = new AbortController();
    const any = anyOf(one, other.signal);
    expect(any.aborted).toBe(false);
    one.abort(reason);
    expect(any.aborted).toBe(true);
    expect(any.reason).toBe(reason);
  });
});

describe('a signal of somebody else', () => {
  it('is carried over to the platform', () => {
    const inner = new Cancel();
    const foreign: CancelSignal = {
      get aborted() {
        return inner.aborted;
      },
      get reason() {
        return inner.reason;
      },
      throwIfAborted: () => inner.throwIfAborted(),
      addEventListener: (type, listener) => inner.addEventListener(type, listener),
      removeEventListener: (type, listener) => inner.removeEventListener(type, listener),
    };
    const native = nativeSignal(foreign);
    inner.abort(reason);
    expect(native.reason).toBe(reason);
  });
});
