/** Levels of log messages (RFC 5424, as MCP uses them). Pure. */

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type LogLevel = (typeof LEVELS)[number];

export const isLogLevel = (value: unknown): value is LogLevel => LEVELS.some((level) => level === value);

/** Whether a message of this level is wanted. One whose level nobody knows is shown rather than lost. */
export const reaches = (level: unknown, wanted: LogLevel): boolean =>
  !isLogLevel(level) || LEVELS.indexOf(level) >= LEVELS.indexOf(wanted);

/** The level that lets through what any of them wants; null when nobody asked. */
export function mostTalkative(levels: Iterable<LogLevel | null>): LogLevel | null {
  let lowest: number = LEVELS.length;
  for (const level of levels) if (level !== null) lowest = Math.min(lowest, LEVELS.indexOf(level));
  return LEVELS[lowest] ?? null;
}
