/** Single keys from a terminal. The terminal is as it was before once `close` was called, or the process ends. */

export interface Keys {
  /** The next key as it arrives (`\r` for enter); null when no more come, or `signal` ends. */
  next(signal: AbortSignal): Promise<string | null>;
  close(): void;
}

/** As much of a terminal's input as is needed here. */
export interface KeyInput {
  setRawMode?(raw: boolean): unknown;
  resume(): unknown;
  pause(): unknown;
  on(event: 'data' | 'end', listener: (chunk: Buffer | string) => void): unknown;
  off(event: 'data' | 'end', listener: (chunk: Buffer | string) => void): unknown;
}

const sequence = /\u001b(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z])|[\s\S]/gu;

export function keysOf(input: KeyInput): Keys {
  const typed: string[] = [];
  let over = false;
  let wake: (() => void) | null = null;
  const onData = (chunk: Buffer | string): void => {
    typed.push(...(chunk.toString().match(sequence) ?? []));
    wake?.();
  };
  const onEnd = (): void => {
    over = true;
    wake?.();
  };
  const close = (): void => {
    if (input.setRawMode) input.setRawMode(false);
    input.off('data', onData);
    input.off('end', onEnd);
    input.pause();
    process.off('exit', close);
    onEnd();
  };
  input.setRawMode?.(true);
  input.on('data', onData);
  input.on('end', onEnd);
  input.resume();
  process.on('exit', close);
  return {
    close,
    async next(signal) {
      while (typed.length === 0 && !over && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        wake = null;
      }
      return signal.aborted ? null : (typed.shift() ?? null);
    },
  };
}
