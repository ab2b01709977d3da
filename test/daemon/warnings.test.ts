import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/daemon/logger.ts';
import { warnOfFailures } from '../../src/daemon/warnings.ts';
import type { ServerFact } from '../../src/events/server.events.ts';
import {
  configured,
  connected,
  connectFailed,
  connecting,
  died,
  elapsed,
  enabled,
  listed,
  listFailed,
  listRefused,
  loginRequired,
  lost,
  notFound,
  process,
  reconnecting,
  refused401,
  serverFailed,
} from '../support/server.facts.ts';
import { givenLog, storyOn } from '../support/story.ts';

async function warnings(...facts: readonly ServerFact[]): Promise<unknown[]> {
  const log = givenLog();
  const logger = createLogger({ level: 'silent', terminal: false });
  const said: unknown[] = [];
  logger.warn = (...words: unknown[]) => said.push(words);
  warnOfFailures(log, logger);
  await storyOn(log).tell(1_000, 'server-a', ...facts);
  return said;
}

const begun = [configured(), enabled, connecting(), process()];
const ready = [...begun, connected(), listed()];

describe('A failure of a server', () => {
  it.each([
    ['to start', [...begun, serverFailed()], notFound],
    ['to connect', [...begun, connectFailed()], died],
    ['to let us in', [...begun, loginRequired()], refused401],
    ['to list again', [...ready, listFailed()], listRefused],
    ['to stay', [...ready, lost(), reconnecting()], died],
  ])(
    '%s is one line in the log, with server, phase and class',
    async (_what, facts, { class: kind, phase, message }) => {
      expect(await warnings(...facts)).toEqual([[{ server: 'a', phase, class: kind }, message]]);
    },
  );

  it('is told each time it happens', async () => {
    expect(await warnings(...begun, connectFailed(), elapsed, reconnecting(), connectFailed(2, 2))).toHaveLength(2);
  });

  it('is none while all is well', async () => {
    expect(await warnings(...ready)).toEqual([]);
  });

  it('includes what was wrong with a list that was taken', async () => {
    const list = listed();
    const data = { ...list.data, warnings: ['a tool has no name'] };
    expect(await warnings(...begun, connected(), { ...list, data } as ServerFact)).toEqual([
      [{ server: 'a', phase: 'list' }, 'a tool has no name'],
    ]);
  });
});
