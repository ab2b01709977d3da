/** Reading options by the kind of their value. Pure. */
import { usedWrongly } from './failure.ts';
import { type Moment, momentForms, parseMoment, parseSpan } from './moment.ts';

export type Options = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export const flag = (options: Options, name: string): boolean => options[name] === true;

export function text(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

export function list(options: Options, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value : [];
}

/** `--name T` as a moment; used wrongly when it is none. */
export function moment(options: Options, name: string, now: number): Moment | undefined {
  const value = text(options, name);
  if (value === undefined) return undefined;
  const read = parseMoment(value, new Date(now));
  if (!read) throw usedWrongly(`--${name} ${value}: not a moment; give ${momentForms}.`);
  return read;
}

/** `--name SPAN` in milliseconds. */
export function span(options: Options, name: string): number | undefined {
  const value = text(options, name);
  if (value === undefined) return undefined;
  const read = parseSpan(value);
  if (read === null || read <= 0)
    throw usedWrongly(`--${name} ${value}: not a span; give one such as 500ms, 30s or 5m.`);
  return read;
}

/** `--name N`, a whole number from 1. */
export function count(options: Options, name: string): number | undefined {
  const value = text(options, name);
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(value)) throw usedWrongly(`--${name} ${value}: not a whole number above 0.`);
  return Number(value);
}

/** `K=V` words of a repeatable option as one object; a key given twice keeps its last value. The error holds no value. */
export function pairs(options: Options, name: string): Record<string, string> {
  return Object.fromEntries(
    list(options, name).map((word) => {
      const split = word.indexOf('=');
      if (split < 1) throw usedWrongly(`--${name} wants KEY=VALUE.`);
      return [word.slice(0, split), word.slice(split + 1)];
    }),
  );
}

/** What the API takes as `at`. */
export const atOf = (value: Moment | undefined): string | undefined => {
  if (!value) return undefined;
  return 'position' in value ? String(value.position) : new Date(value.time).toISOString();
};
