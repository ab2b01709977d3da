/** Everything that can happen, in one place. `docs/events.md` is generated from it. */
import { type AllowlistFact, allowlistFacts } from './allowlist.events.ts';
import { type CallFact, callFacts } from './call.events.ts';
import { type ConfigFact, configFacts, type DaemonFact, daemonFacts } from './daemon.events.ts';
import type { FactDefinition } from './define.ts';
import { type LoginFact, loginFacts } from './login.events.ts';
import { type ServerFact, serverFacts } from './server.events.ts';

export const catalogue = {
  ...serverFacts,
  ...callFacts,
  ...allowlistFacts,
  ...configFacts,
  ...daemonFacts,
  ...loginFacts,
};

export type Fact = ServerFact | CallFact | AllowlistFact | ConfigFact | DaemonFact | LoginFact;
export type FactType = Fact['type'];

export const definitionOf = (type: string): FactDefinition | undefined =>
  Object.hasOwn(catalogue, type) ? catalogue[type as FactType] : undefined;
