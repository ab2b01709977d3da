/** The SDK's client, loaded when the first connection needs it: it is large, and the daemon's port must be open before. */
import type * as Sdk from './sdk.client.ts';

let loaded: Promise<typeof Sdk> | undefined;

export function loadSdk(): Promise<typeof Sdk> {
  loaded ??= import('./sdk.client.ts');
  return loaded;
}
