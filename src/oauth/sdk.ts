/** The SDK's part of a login, loaded when the first login or renewal needs it. */
import type * as Sdk from './sdk.auth.ts';

let loaded: Promise<typeof Sdk> | undefined;

export function loadSdk(): Promise<typeof Sdk> {
  loaded ??= import('./sdk.auth.ts');
  return loaded;
}
