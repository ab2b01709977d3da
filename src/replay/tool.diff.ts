/** What is different in a changed tool, to be read by a person: sentences word by word, schemas member by member. Pure. */
import { diffWordsWithSpace } from 'diff';
import { canonicalJson } from '../canonical.ts';
import type { ToolDefinition } from '../events/shapes.ts';

export interface Piece {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** One place that differs, as a line. */
export interface DiffLine {
  /** `description`, `inputSchema.query.type`. */
  readonly path: string;
  readonly pieces: readonly Piece[];
}

/** Texts longer than this (characters) are compared as a whole: comparing takes time with the square of their words. */
const LONGEST_TEXT = 20_000;
/** Of longer values (characters) only a stretch is shown. */
const LONGEST_VALUE = 2_000;
/** Unchanged text of which only the ends next to a change are shown. */
const KEPT_AROUND = 40;
const MAX_LINES = 200;

/** Every place where two definitions differ, in the order of `members`. */
export function toolDiff(before: ToolDefinition, after: ToolDefinition, members: readonly string[]): DiffLine[] {
  const lines = members.flatMap((member) => [...linesOf(member, before[member], after[member])]);
  if (lines.length <= MAX_LINES) return lines;
  const rest = { path: '…', pieces: [{ kind: 'same' as const, text: `${lines.length - MAX_LINES} more places` }] };
  return [...lines.slice(0, MAX_LINES), rest];
}

/** `named`: the members are names a server chose for its parameters, and not words of JSON Schema. */
function* linesOf(path: string, before: unknown, after: unknown, named = false): Generator<DiffLine> {
  if (canonicalJson(before) === canonicalJson(after)) return;
  if (typeof before === 'string' && typeof after === 'string') {
    yield { path, pieces: isSentence(before) || isSentence(after) ? words(before, after) : whole(before, after) };
  } else if (isMembers(before) && isMembers(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      // Parameters are shown as members of their schema: that is how people name them.
      const inner = key === 'properties' && !named;
      yield* linesOf(inner ? path : `${path}.${key}`, before[key], after[key], inner);
    }
  } else if (isPlainList(before) && isPlainList(after)) yield { path, pieces: items(before, after) };
  else yield { path, pieces: whole(before, after) };
}

const isSentence = (text: string): boolean => /\s/.test(text.trim());

function words(before: string, after: string): Piece[] {
  if (Math.max(before.length, after.length) > LONGEST_TEXT) return whole(before, after);
  return diffWordsWithSpace(before, after).map(({ added, removed, value }) => ({
    kind: added ? 'added' : removed ? 'removed' : 'same',
    text: value,
  }));
}

/** Of long values the stretch where they begin to differ: what is alike before it would hide what is not. */
function whole(before: unknown, after: unknown): Piece[] {
  const from = before === undefined || after === undefined ? 0 : firstDifference(json(before), json(after));
  return [
    ...(before === undefined ? [] : [{ kind: 'removed' as const, text: shown(before, from) }]),
    ...(after === undefined ? [] : [{ kind: 'added' as const, text: shown(after, from) }]),
  ];
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

/** Of lists such as `required`: what came and what went. */
function items(before: readonly unknown[], after: readonly unknown[]): Piece[] {
  const [old, now] = [new Set(before), new Set(after)];
  const pieces: Piece[] = [
    ...before.filter((item) => !now.has(item)).map((item) => ({ kind: 'removed' as const, text: shown(item) })),
    ...after.filter((item) => !old.has(item)).map((item) => ({ kind: 'added' as const, text: shown(item) })),
  ];
  return pieces.length > 0 ? pieces : whole(before, after);
}

const json = (value: unknown): string => JSON.stringify(value) ?? '';

/** `at`: a place that has to be seen. */
const shown = (value: unknown, at = 0): string => {
  const text = json(value);
  if (text.length <= LONGEST_VALUE) return text;
  const from = at <= LONGEST_VALUE - KEPT_AROUND ? 0 : at - KEPT_AROUND;
  const end = from + LONGEST_VALUE;
  return `${from > 0 ? '…' : ''}${text.slice(from, end)}${end < text.length ? '…' : ''}`;
};

const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isPlainList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null);

/** How a piece is marked; `added` and `removed` must be told apart without colours as well. */
export type Mark = (piece: Piece) => string;

/** `[-old-]{+new+}`: the marks of word diffs in plain text. */
export const plainMark: Mark = ({ kind, text }) =>
  kind === 'same' ? text : kind === 'added' ? `{+${text}+}` : `[-${text}-]`;

/** A line as text; long stretches that did not change are shortened. */
export function lineText({ path, pieces }: DiffLine, mark: Mark = plainMark): string {
  const texts = pieces.map((piece, index) =>
    mark(piece.kind === 'same' ? { ...piece, text: shortened(piece.text, index, pieces.length) } : piece),
  );
  return `${path}: ${texts.join(pieces.some(({ kind }) => kind === 'same') ? '' : ' ')}`;
}

function shortened(text: string, index: number, count: number): string {
  if (text.length <= 2 * KEPT_AROUND + 20) return text;
  const head = index === 0 ? '' : text.slice(0, KEPT_AROUND);
  const tail = index === count - 1 ? '' : text.slice(-KEPT_AROUND);
  return `${head} … ${tail}`;
}
