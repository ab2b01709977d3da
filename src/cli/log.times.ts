/** Moments of the command line as times: a log position means the time of its fact. */
import type { Context } from './command.ts';
import { timeOf } from './log.reader.ts';
import { withLog } from './offline.log.ts';
import { moment, type Options } from './options.ts';

/** `--from` or `--to` in milliseconds since the epoch. */
export async function timeOption(context: Context, options: Options, name: 'from' | 'to'): Promise<number | undefined> {
  const given = moment(options, name, context.now());
  if (!given) return undefined;
  return 'time' in given ? given.time : withLog(context, (read) => timeOf(read, given));
}
