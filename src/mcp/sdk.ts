/** The SDK, loaded when the first connection needs it: it is large, and the daemon's port must be open before. */
import type * as Sdk from '@modelcontextprotocol/client';

let loaded: Promise<typeof Sdk> | undefined;

export function loadSdk(): Promise<typeof Sdk> {
  loaded ??= import('@modelcontextprotocol/client');
  return loaded;
}
