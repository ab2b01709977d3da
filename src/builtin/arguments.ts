/** Arguments of the built-in tools: what they may be, and what they mean. Pure. */

import type { Moment } from '../http/keeper.ts';
import { readTime } from '../http/moment.ts';

export type Arguments = Readonly<Record<string, unknown>>;

/** Arguments that cannot be used; the message is for the model, which may correct them. */
export class WrongArguments extends Error {
  override readonly name = 'WrongArguments';
}

export interface Parameter {
  readonly type: 'string' | 'integer';
  readonly description: string;
}

/** Throws `WrongArguments` for a member that is not known, or is of another type. */
export function checkArguments(args: Arguments, known: Readonly<Record<string, Parameter>>): void {
  for (const [name, value] of Object.entries(args)) {
    const parameter = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!parameter)
      throw new WrongArguments(`There is no argument \`${name}\`. Known: ${Object.keys(known).join(', ')}.`);
    const fits = parameter.type === 'integer' ? Number.isSafeInteger(value) : typeof value === 'string';
    if (!fits)
      throw new WrongArguments(`\`${name}\` must be ${parameter.type === 'integer' ? 'a whole number' : 'text'}.`);
  }
}

export function textOf(args: Arguments, name: string): string | undefined {
  const value = args[name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** What times may look like, for descriptions and refusals. */
export const TIMES = 'an ISO 8601 time, or a span back from now such as 30m, 2h or 3d';

/** A time in ms since the epoch: ISO 8601 (UTC where no offset is given), or a span back from `now`. */
export function timeIn(args: Arguments, name: string, now: number): number | undefined {
  const text = textOf(args, name);
  if (text === undefined) return undefined;
  const span = /^(\d+(?:\.\d+)?) ?([smhd])$/.exec(text);
  const time = span ? now - Number(span[1]) * (units[span[2] ?? ''] ?? 0) : readTime(text);
  if (time === null) throw new WrongArguments(`\`${name}\` must be ${TIMES}.`);
  return time;
}

/** A time, or a position of the log, as answers name them. */
export function momentIn(args: Arguments, name: string, now: number): Moment | undefined {
  const text = textOf(args, name);
  if (text !== undefined && /^\d{1,15}$/.test(text)) return { position: Number(text) };
  const time = timeIn(args, name, now);
  return time === undefined ? undefined : { time };
}
