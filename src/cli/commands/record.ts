import type { Recording } from '../../api/client.ts';
import { aboutServer } from '../ask.daemon.ts';
import type { Command, View } from '../command.ts';
import { bytes, localTime } from '../duration.ts';
import { CommandError, usedWrongly } from '../failure.ts';
import { flag } from '../options.ts';
import { oneLine } from '../paint.ts';
import { type Cell, table } from '../table.ts';

const recordingTable = (recordings: readonly Recording[], view: View): string =>
  table(
    [
      { title: 'SERVER' },
      { title: 'RECORDED' },
      { title: 'SINCE' },
      { title: 'FILES', right: true },
      { title: 'SIZE', right: true },
      { title: 'ERROR', shrinksTo: 20 },
    ],
    recordings.map(({ server, on, since, files, bytes: size, error }): Cell[] => [
      { text: server, color: 'bold' },
      { text: on ? 'on' : 'off', color: on ? 'green' : 'dim' },
      { text: since === null ? '' : localTime(since) },
      { text: String(files) },
      { text: bytes(size) },
      { text: error === null ? '' : oneLine(error), color: 'red' },
    ]),
    view,
  );

/** The near name that is suggested stands before the word. */
function withWord(error: unknown, word: string): unknown {
  if (!(error instanceof CommandError)) return error;
  return new CommandError(error.message, { next: error.next.map((line) => line.replace(/^record .*/, `$& ${word}`)) });
}

export const record: Command = {
  description: {
    name: 'record',
    group: 'Servers',
    summary: 'record what goes between the daemon and a server, or show what is recorded',
    arguments: [
      { name: '[server]', about: 'its name' },
      { name: '[on|off]', about: 'begin or end' },
    ],
    options: [{ flags: '--delete', about: 'with off: delete what was recorded' }],
    examples: [
      { line: 'record github on', about: 'at once, and after a restart of the daemon too' },
      { line: 'record', about: 'every server that is recorded or of which something is kept' },
      { line: 'record github off --delete', about: 'end it and delete its files' },
    ],
  },
  async run({ api }, { positional: [name, to] }, options) {
    const andDelete = flag(options, 'delete');
    if (name === undefined || to === undefined) {
      if (andDelete) throw usedWrongly('--delete goes with off.', 'record <server> off --delete');
      const { recordings } = await api.recordings();
      const shown = recordings.filter(({ server }) => name === undefined || server === name);
      return {
        kind: 'answer',
        json: { recordings: shown },
        text: (view) => (shown.length > 0 ? recordingTable(shown, view) : 'Nothing is recorded.\n'),
        notes: shown.length > 0 ? [] : [`Begin: watchkeeper record ${name ?? '<server>'} on`],
      };
    }
    if (to !== 'on' && to !== 'off')
      throw usedWrongly(`"${to}" is neither on nor off.`, `record ${name} on`, `record ${name} off`);
    if (andDelete && to === 'on') throw usedWrongly('--delete goes with off.', `record ${name} off --delete`);
    const done = await aboutServer(api, name, 'record', () =>
      api.record(name, to === 'on', andDelete ? { delete: true } : {}),
    ).catch((error: unknown) => {
      throw withWord(error, to);
    });
    const kept = done.files > 0 ? ` ${bytes(done.bytes)} are kept.` : '';
    return {
      kind: 'answer',
      json: done,
      text: () =>
        done.on
          ? `${name} is being recorded.\n`
          : `${name} is not recorded${andDelete ? ', and nothing is kept' : ''}.${kept}\n`,
      confirms: true,
      notes: done.on ? [`Make a file of it: watchkeeper fixture export ${name} ${name}.fixture.json`] : [],
    };
  },
};
