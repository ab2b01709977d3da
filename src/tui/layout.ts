/** How the rows of the screen are shared out. Pure. */
import type { Size } from './state.ts';

/** Title on top; notice and keys at the bottom. */
const frame = 3;
/** A server's own head: how it stands, what is wrong, its tabs. */
const serverHead = 3;

export const least: Size = { columns: 40, rows: 12 };

export const isTooSmall = ({ columns, rows }: Size): boolean => columns < least.columns || rows < least.rows;

/** Rows between the title and the notice. */
export const bodyRows = ({ rows }: Size): number => Math.max(1, rows - frame);

/** Rows of a server's tab. */
export const tabRows = (size: Size): number => Math.max(1, bodyRows(size) - serverHead);

/** Enough room for one line a server, its error included. */
export const isWide = ({ columns }: Size): boolean => columns >= 120;
