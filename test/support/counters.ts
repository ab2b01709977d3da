/** Reads what the fake servers counted: one line a start, a message received, an exit. */
import { existsSync, readFileSync } from 'node:fs';

export interface Counted {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly pid: number;
  /** `spawn`, `exit`, `signal`, or the method of a message received. */
  readonly event: string;
  /** Tool name, exit code, or signal. */
  readonly name?: string;
}

export function readCounts(file: string): Counted[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Counted);
}

export function countOf(file: string, event: string, name?: string): number {
  return readCounts(file).filter((line) => line.event === event && (name === undefined || line.name === name)).length;
}
