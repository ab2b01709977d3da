import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { aboutServer, unlessNoDaemon } from '../ask.daemon.ts';
import type { Command } from '../command.ts';
import { bytes, counted } from '../duration.ts';
import { CommandError } from '../failure.ts';
import { timeOption } from '../log.times.ts';
import { offlineFixture } from '../offline.fixture.ts';

const iso = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();

export const fixtureExport: Command = {
  description: {
    name: 'fixture export',
    group: 'Log',
    summary: 'make one portable file of what was recorded of a server',
    arguments: [
      { name: '<server>', about: 'its name' },
      { name: '<file>', about: 'where to; must not exist yet' },
    ],
    options: [
      { flags: '--from <T>', about: 'nothing before this moment' },
      { flags: '--to <T>', about: 'nothing after this moment' },
    ],
    examples: [
      { line: 'fixture export github github.fixture.json', about: 'all that is kept' },
      { line: 'fixture export github bad-hour.json --from 14:00 --to 15:00', about: 'a stretch of it' },
    ],
  },
  async run(context, { positional: [server = '', given = ''] }, options) {
    const { api, cwd, files, version } = context;
    const to = resolve(cwd, given);
    if (existsSync(to))
      throw new CommandError(`${to} exists already and is left as it is.`, {
        next: [`fixture export ${server} ${given}.new`],
      });
    const stretch = {
      from: await timeOption(context, options, 'from'),
      to: await timeOption(context, options, 'to'),
    };
    const made = await unlessNoDaemon(
      api,
      () =>
        aboutServer(api, server, 'fixture export', () =>
          api.fixture({ name: server, from: iso(stretch.from), to: iso(stretch.to) }),
        ),
      (why) => offlineFixture(files.recordingsDir, { server, ...stretch, now: context.now(), version }, why),
    );
    const { writeAtomic } = await import('../../config/files.ts');
    await writeAtomic(to, `${JSON.stringify(made, null, 1)}\n`).catch((error: unknown) => {
      throw new CommandError(error instanceof Error ? `${error.message}.` : String(error), {
        next: [`fixture export ${server} <file>`],
      });
    });
    const { size } = statSync(to);
    return {
      kind: 'answer',
      json: { ok: true, file: to, bytes: size, lives: made.lives.length, notes: made.notes },
      text: () => `${to} (${bytes(size)}, ${counted(made.lives.length, 'live').replace(/\blive\b/, 'life')})\n`,
      confirms: true,
      notes: [...made.notes, `Serve it: watchkeeper fixture serve ${given}`],
    };
  },
};
