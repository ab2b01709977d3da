/** The log of one server as its rules would have written it: what it was told, and when. */
import { type Heard, step } from '../../src/actors/head.ts';
import { isRefusal } from '../../src/actors/refusal.ts';
import type { ServerCommand } from '../../src/actors/server/server.commands.ts';
import { decideServer } from '../../src/actors/server/server.decide.ts';
import { serverRules } from '../../src/actors/server/server.rules.ts';
import type { ServerFact } from '../../src/events/server.events.ts';
import type { Failure, Limits } from '../../src/events/shapes.ts';
import type { ServerHead, ServerRecorded } from '../../src/replay/inputs.ts';
import { agreement, configuration, died, one } from './server.facts.ts';

type Unnumbered<Command> = Command extends { connection: number } ? Omit<Command, 'connection'> : Command;

/** A moment (ms since the epoch), what the server was told, and what the dice showed (the middle). */
export type Told = readonly [at: number, command: Unnumbered<ServerCommand>, random?: number];

/** Facts of `server-a`. Reports are about the connection there is. Throws where nothing comes of what was told. */
export function lived(...told: readonly Told[]): ServerRecorded[] {
  let head: ServerHead = { ...serverRules.initial, version: 0 };
  const facts: ServerRecorded[] = [];
  for (const [at, command, random = 0.5] of told) {
    const numbered = (
      command.type.startsWith('Report') ? { ...command, connection: head.context.connection } : command
    ) as ServerCommand;
    const decided = decideServer(head, numbered, { at, id: '', random });
    if (isRefusal(decided) || decided.length === 0)
      throw new Error(`Nothing comes of ${command.type} in ${head.state}.`);
    for (const fact of decided) {
      head = step(serverRules, head, { ...fact, at } as Heard<ServerFact>);
      const { version, state } = head;
      const data = { ...fact.data, to: state } as ServerRecorded['data'];
      facts.push({ position: version, stream: 'server-a', version, type: fact.type, schema: 1, at, cause: null, data });
    }
  }
  return facts;
}

export const configure = (limits: Partial<Limits> = {}, revision = 'r1'): Unnumbered<ServerCommand> => {
  const made = configuration({ revision });
  return { type: 'ConfigureServer', configuration: { ...made, wanted: 'on', limits: { ...made.limits, ...limits } } };
};
export const start: Unnumbered<ServerCommand> = { type: 'StartServer' };
export const connects = (tookMs = 5): Unnumbered<ServerCommand> => ({ type: 'ReportConnected', agreement, tookMs });
export const lists = (tookMs = 3, signature = 's1'): Unnumbered<ServerCommand> => ({
  type: 'ReportTools',
  signature,
  tools: [one],
  warnings: [],
  tookMs,
});
export const fails = (failure: Failure = died): Unnumbered<ServerCommand> => ({ type: 'ReportFailure', failure });
export const cut = (of: 'connect' | 'list' = 'connect'): Unnumbered<ServerCommand> => ({ type: 'ReportTimeout', of });
export const again: Unnumbered<ServerCommand> = { type: 'ReportBackoffElapsed' };
export const holds: Unnumbered<ServerCommand> = { type: 'ReportStable' };
export const stop: Unnumbered<ServerCommand> = { type: 'StopServer' };
export const closed: Unnumbered<ServerCommand> = { type: 'ReportStopped' };
export const unused: Unnumbered<ServerCommand> = { type: 'ReportUnused' };
export const reconnect: Unnumbered<ServerCommand> = { type: 'ReconnectServer' };
export const bootAfterDeath = (lastAlive: number): Unnumbered<ServerCommand> => ({ type: 'CloseOpenEnds', lastAlive });
