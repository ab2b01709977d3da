/** Looking at what a server needs, without starting it. Every check has a time limit of its own and none of them throws. */
import type { Check } from '../replay/verdict.ts';

/** A check that takes longer has found out something as well, in ms. */
export const CHECK_MS = 2_000;

export type Look = (signal: AbortSignal) => Promise<Check | readonly Check[] | null>;

export const fine = (name: string, detail: string): Check => ({ name, ok: true, detail, next: null });
export const wrong = (name: string, detail: string, next: string | null): Check => ({ name, ok: false, detail, next });

/** What was looked at, in order. `next` is said when there was no answer in time. */
export async function checksOf(
  looks: readonly { readonly name: string; readonly look: Look; readonly next: string | null }[],
  limitMs = CHECK_MS,
): Promise<Check[]> {
  const found = await Promise.all(looks.map((one) => looked(one, limitMs)));
  return found.flat();
}

async function looked(
  { name, look, next }: { readonly name: string; readonly look: Look; readonly next: string | null },
  limitMs: number,
): Promise<readonly Check[]> {
  const limit = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Check>((resolve) => {
    timer = setTimeout(() => {
      resolve(wrong(name, `no answer within ${limitMs} ms`, next));
      limit.abort();
    }, limitMs);
  });
  try {
    const found = await Promise.race([look(limit.signal), late]);
    return found === null ? [] : [found].flat();
  } catch (error) {
    return [wrong(name, `could not be looked at: ${error instanceof Error ? error.message : String(error)}`, next)];
  } finally {
    clearTimeout(timer);
    limit.abort();
  }
}
