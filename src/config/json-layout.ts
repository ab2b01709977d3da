/** How a JSON text is laid out around its nodes: lines, commas, comments, indentation. Pure. */
import { createScanner } from 'jsonc-parser';
import { type Node, type Property, propertiesOf } from './jsonc.ts';

export interface Tail {
  /** Offset of the comma that follows; null when none does. */
  readonly comma: number | null;
  /** Where the property's line ends: after the comma and after comments on that line. */
  readonly lineEnd: number;
  readonly afterLineComment: boolean;
  /** Nothing else stands on the line. */
  readonly endsLine: boolean;
}

// Kinds of token, as the scanner numbers them.
const commaToken = 5;
const lineComment = 12;
const blockComment = 13;
const lineBreak = 14;
const space = 15;
const endOfText = 17;

/** What follows a property up to the end of its line, and the comma wherever it is. */
export function tail(text: string, node: Node): Tail {
  const scanner = createScanner(text, false);
  scanner.setPosition(endOf(node));
  let comma: number | null = null;
  let lineEnd = endOf(node);
  let sameLine = true;
  let afterLineComment = false;
  let endsLine = false;
  for (;;) {
    const token = scanner.scan() as number;
    const start = scanner.getTokenOffset();
    const end = start + scanner.getTokenLength();
    if (token === lineBreak || token === endOfText) {
      if (sameLine) endsLine = true;
      sameLine = false;
      if (token === endOfText) break;
    } else if (token === commaToken && comma === null) {
      comma = start;
      // What stands behind a comma on a later line belongs to that line.
      if (!sameLine) break;
      lineEnd = end;
    } else if (token === lineComment || token === blockComment) {
      if (sameLine) {
        if (/[\r\n]/.test(text.slice(start, end))) sameLine = false;
        else {
          lineEnd = end;
          afterLineComment = token === lineComment;
        }
      }
    } else if (token !== space) break;
    if (!sameLine && comma !== null) break;
  }
  return { comma, lineEnd, afterLineComment, endsLine };
}

export interface Style {
  readonly indent: string;
  readonly eol: string;
}

/** How the file is laid out, seen from its first property that has a line of its own. */
export function style(text: string, root: Node): Style {
  const eol = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  const base = lineIndent(text, root.offset);
  const indents = propertiesOf(root)
    .filter((property) => breaksBefore(text, root, property))
    .map((property) => lineIndent(text, property.node.offset))
    .filter((indent) => indent.startsWith(base) && indent !== base);
  return { indent: indents[0]?.slice(base.length) ?? '  ', eol };
}

export function print(value: unknown, { indent, eol }: Style, line: string): string {
  return JSON.stringify(value, null, indent).replaceAll('\n', `${eol}${line}`);
}

export function breaksBefore(text: string, parent: Node, property: Property): boolean {
  return startOfLine(text, property.node.offset) > parent.offset;
}

export const endOf = (node: Node): number => node.offset + node.length;

export function startOfLine(text: string, offset: number): number {
  return Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
}

export const lineIndent = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(startOfLine(text, offset), offset))?.[0] ?? '';

/** Past spaces and the line break at an offset. */
export function endOfBreak(text: string, offset: number): number {
  return offset + (/^[ \t]*(?:\r\n|\n|\r)?/.exec(text.slice(offset))?.[0].length ?? 0);
}

export function spacesBefore(text: string, offset: number): number {
  return offset - (/[ \t]*$/.exec(text.slice(0, offset))?.[0].length ?? 0);
}
