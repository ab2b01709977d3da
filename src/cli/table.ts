/** Rows in columns. Pure. */
import { type Color, cut, type Paint, widthOf } from './paint.ts';

export interface Cell {
  readonly text: string;
  readonly color?: Color | undefined;
}

export interface Column {
  readonly title: string;
  readonly right?: boolean;
  /** May be cut to make the line fit a terminal, down to this many columns. Without it the column is never cut. */
  readonly shrinksTo?: number;
}

const gap = '  ';

/** The widths that make a line fit: the widest column that may shrink gives first. */
function fitted(columns: readonly Column[], natural: readonly number[], width: number | undefined): number[] {
  const widths = [...natural];
  if (width === undefined) return widths;
  let over = widths.reduce((sum, one) => sum + one + gap.length, -gap.length) - width;
  while (over > 0) {
    let widest = -1;
    columns.forEach(({ shrinksTo }, index) => {
      const current = widths[index] ?? 0;
      if (shrinksTo !== undefined && current > shrinksTo && current > (widths[widest] ?? 0)) widest = index;
    });
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
    over--;
  }
  return widths;
}

/**
 * Lays rows out below their titles, every line ended by a line break. Columns that are empty in every row are left out;
 * `width` is the terminal's, undefined for a pipe, where nothing is cut.
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  view: { readonly paint: Paint; readonly width: number | undefined },
): string {
  const used = columns.map((_, index) => index).filter((index) => rows.some((row) => row[index]?.text));
  const shown = used.flatMap((index) => columns[index] ?? []);
  const natural = used.map((index, at) =>
    Math.max(widthOf(shown[at]?.title ?? ''), ...rows.map((row) => widthOf(row[index]?.text ?? ''))),
  );
  const widths = fitted(shown, natural, view.width);
  const line = (cells: readonly Cell[]): string =>
    cells
      .map(({ text, color }, at) => {
        const width = widths[at] ?? 0;
        const kept = cut(text, width);
        const padding = ' '.repeat(Math.max(0, width - widthOf(kept)));
        const painted = color ? view.paint(color, kept) : kept;
        return shown[at]?.right ? padding + painted : painted + padding;
      })
      .join(gap)
      .trimEnd();
  const titles = line(shown.map(({ title }): Cell => ({ text: title, color: 'dim' })));
  const body = rows.map((row) => line(used.map((index) => row[index] ?? { text: '' })));
  return `${[titles, ...body].join('\n')}\n`;
}
