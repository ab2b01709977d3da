/** Moments of the command line as times: a log position means the time of its fact. */
import type { Context } from './command.ts';
import { usedWrongly } from './failure.ts';
import { timeOf } from './log.reader.ts';
import { withLog } from './offline.log.ts';
import { moment, type Options } from './options.ts';

/** `--from` or `--to` in milliseconds since the epoch. */
export async function timeOption(context: Context, options: Options, name: 'from' | 'to'): Promise<number | undefined> {
  const given = moment(options, name, context.now());
  if (!given) return undefined;
  return 'time' in given ? given.time : withLog(context, (read) => timeOf(read, given));
}

/** `--from` and `--to`; the other way round, or from a moment that has yet to come, they are used wrongly. */
export async function windowOptions(
  context: Context,
  options: Options,
): Promise<{ readonly from: number | undefined; readonly to: number | undefined }> {
  const [from, to] = [await timeOption(context, options, 'from'), await timeOption(context, options, 'to')];
  if (from !== undefined && from > context.now()) throw usedWrongly('--from lies in the future.');
  if (from !== undefined && to !== undefined && from > to) throw usedWrongly('--from is after --to; exchange them.');
  return { from, to };
}
