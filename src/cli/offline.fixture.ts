/** A fixture out of the recorded files, for when no daemon runs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Fixture } from '../api/client.ts';
import type { DaemonUnreachable } from '../api/errors.ts';
import { CommandError } from './failure.ts';

/** `from` and `to` in milliseconds since the epoch. Throws `why` when there are no recordings at all. */
export async function offlineFixture(
  folder: string,
  query: {
    readonly server: string;
    readonly from: number | undefined;
    readonly to: number | undefined;
    readonly now: number;
    readonly version: string;
  },
  why: DaemonUnreachable,
): Promise<Fixture> {
  if (!existsSync(folder)) throw why;
  const { server, version, now, from, to } = query;
  // The name comes from the command line, and nothing but a name may lead into the folder.
  const known = /^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(server) && existsSync(join(folder, server));
  const { readRecording } = await import('../recordings/read.ts');
  const { FixtureBuilder } = await import('../replay/fixture/build.ts');
  const builder = new FixtureBuilder({ server, by: `watchkeeper ${version}`, now, from, to });
  if (known) for await (const line of readRecording(folder, server)) builder.add(line);
  const fixture = builder.done();
  if (fixture !== null) return fixture;
  const when = from === undefined && to === undefined ? '' : ' in that time';
  throw new CommandError(`Nothing of ${server} was recorded${when}.`, { next: ['up --detach', `record ${server} on`] });
}
