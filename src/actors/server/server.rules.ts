import type { ServerFact } from '../../events/server.events.ts';
import type { Rules } from '../head.ts';
import { nextBy, tableOf } from '../table.ts';
import type { ServerCommand } from './server.commands.ts';
import { decideServer } from './server.decide.ts';
import { serverMachine } from './server.machine.ts';
import { blankServer, evolveServer, type ServerContext } from './server.state.ts';

export const serverTable = tableOf(serverMachine, blankServer);

export const serverRules: Rules<ServerContext, ServerFact, ServerCommand> = {
  initial: { state: 'stopped', context: blankServer },
  next: nextBy(serverTable),
  evolve: evolveServer,
  decide: decideServer,
};
