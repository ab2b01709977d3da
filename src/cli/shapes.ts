/** The shapes of the HTTP API that the client does not name; nothing of the contract is loaded at run time. */
import type { z } from 'zod';
import type { Events, History } from '../api/client.ts';
import type * as contract from '../http/contract.ts';

export type Event = Events['events'][number];
export type Interval = History['intervals'][number];
export type ServerState = contract.ServerState;
export type Outcome = NonNullable<z.infer<typeof contract.call>['outcome']>;
