/** Clients built on the SDK, the old generation and the new one, over HTTP and over stdio. */
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { atEnd } from './cleanup.ts';
import { type Daemon, type Home, plainEnv } from './daemon.ts';
import { cliMain } from './paths.ts';

export { Client1, Client2 };

const me = { name: 'test', version: '1.0.0' };

/** What both generations have in common. */
export interface SdkClient {
  listTools(): Promise<{ tools: { name: string; _meta?: unknown }[] }>;
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<any>;
  close(): Promise<void>;
}

/** `watchkeeper mcp …` for the daemon of a home. */
export const bridgeOf = (home: Pick<Home, 'home' | 'config' | 'dir'>, ...args: string[]) => ({
  command: process.execPath,
  args: [cliMain, 'mcp', ...args],
  env: plainEnv(home.home, { WATCHKEEPER_CONFIG: home.config, WATCHKEEPER_DATA: home.dir }),
  stderr: 'inherit' as const,
});

const addressOf = (daemon: Daemon, server?: string) =>
  new URL(`${daemon.url}/mcp${server === undefined ? '' : `/${server}`}`);
const signedIn = (daemon: Daemon) => ({ requestInit: { headers: { authorization: `Bearer ${daemon.token}` } } });
const bridgeTo = (daemon: Daemon, server?: string) => bridgeOf(daemon, ...(server === undefined ? [] : [server]));

async function old(transport: Http1 | Stdio1): Promise<Client1> {
  const client = new Client1(me);
  atEnd(() => client.close());
  // The two SDKs differ in whether optional members may be undefined.
  await client.connect(transport as never);
  return client;
}

async function recent(transport: Http2 | Stdio2): Promise<Client2> {
  const client = new Client2(me, { versionNegotiation: { mode: 'auto' } });
  atEnd(() => client.close());
  await client.connect(transport);
  return client;
}

/** Each connects to all servers of a daemon, or to one; closed with the test file at the latest. */
export const sdkClients = {
  'SDK 1.x over HTTP': (daemon: Daemon, server?: string) => old(new Http1(addressOf(daemon, server), signedIn(daemon))),
  'SDK 1.x over stdio': (daemon: Daemon, server?: string) => old(new Stdio1(bridgeTo(daemon, server))),
  'SDK 2.x over HTTP': (daemon: Daemon, server?: string) =>
    recent(new Http2(addressOf(daemon, server), signedIn(daemon))),
  'SDK 2.x over stdio': (daemon: Daemon, server?: string) => recent(new Stdio2(bridgeTo(daemon, server))),
} as const;
