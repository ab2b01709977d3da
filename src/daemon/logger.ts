/** The daemon's own log, on stderr: lines for people on a terminal, JSON lines otherwise. */
import { type Logger, pino } from 'pino';

const NAMES: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
/** Members of every line that say nothing to a person. */
const COMMON = new Set(['level', 'time', 'pid', 'hostname', 'msg']);

export function createLogger({ level, terminal }: { level: string; terminal: boolean }): Logger {
  const write = (line: string): void => void process.stderr.write(line);
  return pino({ level, base: { pid: process.pid } }, { write: terminal ? (line) => write(readable(line)) : write });
}

/** One JSON line as a person reads it: time, level, message, and what else it holds. */
export function readable(line: string): string {
  const { level, time, msg, ...rest } = JSON.parse(line) as { level: number; time: number; msg?: string };
  const clock = new Date(time).toTimeString().slice(0, 8);
  const more = Object.entries(rest)
    .filter(([key]) => !COMMON.has(key))
    .map(([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('');
  return `${clock} ${(NAMES[level] ?? String(level)).padEnd(5)} ${msg ?? ''}${more}\n`;
}
