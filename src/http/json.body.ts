import { isTooDeep, MAX_DEPTH } from '../canonical.ts';
import { Problem } from './problem.ts';

/** A body as JSON; an empty one is null. Every key is kept as it came. Throws a Problem that quotes nothing of it. */
export function readJson(text: string): unknown {
  if (text === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const position = /at position (\d+)/.exec(String(cause))?.[1];
    const place = position === undefined ? '' : ` at character ${Number(position) + 1}`;
    throw new Problem('invalid-request', `The body is not valid JSON${place}.`, {}, { cause });
  }
  if (isTooDeep(value))
    throw new Problem('invalid-request', `The body is nested more than ${MAX_DEPTH} levels deep; send it flatter.`);
  return value;
}
