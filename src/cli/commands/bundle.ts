import { rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { bundleFiles } from '../../replay/bundle.contents.ts';
import { aboutServer, unlessNoDaemon } from '../ask.daemon.ts';
import type { Command } from '../command.ts';
import { bytes as size } from '../duration.ts';
import { CommandError } from '../failure.ts';
import { windowOptions } from '../log.times.ts';
import { offlineBundle } from '../offline.bundle.ts';

const iso = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();

/** A file that is there already stays as it is. */
function save(file: string, bytes: Uint8Array, name: string): void {
  try {
    writeFileSync(file, bytes, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new CommandError(`${file} exists already and is left as it is.`, { next: [`bundle ${name} <file>`] });
    // Half of an archive helps nobody.
    if (code === 'ENOSPC' || code === 'EIO') rmSync(file, { force: true });
    if (code === 'ENOENT')
      throw new CommandError(`There is no folder ${dirname(file)}.`, { next: [`bundle ${name} <file>`] });
    throw new CommandError(`${file} cannot be written: ${message}.`, { next: [`bundle ${name} <file>`] });
  }
}

export const bundle: Command = {
  description: {
    name: 'bundle',
    group: 'Log',
    summary: 'write one redacted archive about a server, to be attached to a report',
    arguments: [
      { name: '<server>', about: 'its name' },
      { name: '[file]', about: 'where to; watchkeeper-<server>-<time>.tar.gz here unless given; must not exist yet' },
    ],
    options: [
      { flags: '--from <T>', about: 'nothing before this moment; a day before the end unless given' },
      { flags: '--to <T>', about: 'nothing after this moment' },
    ],
    examples: [
      { line: 'bundle github', about: 'the last day' },
      { line: 'bundle github --from 14:00 --to 15:00 github.tar.gz', about: 'an hour of the afternoon' },
    ],
  },
  async run(context, { positional: [name = '', given] }, options) {
    const { from, to } = await windowOptions(context, options);
    const { fileName, bytes } = await unlessNoDaemon(
      context.api,
      () => aboutServer(context.api, name, 'bundle', () => context.api.bundle({ name, from: iso(from), to: iso(to) })),
      (why) => offlineBundle(context, { name, from, to }, why),
    );
    const file = resolve(context.cwd, given ?? fileName);
    save(file, bytes, name);
    const contents = Object.entries(bundleFiles).map(([one, about]) => `  ${one.padEnd(14)} ${about}\n`);
    return {
      kind: 'answer',
      json: { ok: true, file, bytes: bytes.length, contents: Object.keys(bundleFiles) },
      text: () => `${file} (${size(bytes.length)})\n${contents.join('')}`,
      confirms: true,
      notes: ['Credentials, home folders and your name were taken out. Look through it before you send it.'],
    };
  },
};
