/** How an endpoint introduces itself: capabilities, identity, instructions. */

import { instructionsPrompt } from '../mcp/instructions.ts';
import { isObject } from '../mcp/message.ts';
import { agreedRevision, MODERN } from './revisions.ts';
import type { Members } from './rpc.ts';
import { withoutTasks } from './tasks.ts';
import type { Upstreams } from './upstreams.ts';

export interface GreetingOptions {
  readonly version: string;
  readonly upstreams: Upstreams;
  /** What servers say of themselves, by name. */
  readonly instructions: () => Readonly<Record<string, string>>;
}

type Sees = (server: string) => boolean;

export class Greeting {
  readonly #options: GreetingOptions;

  constructor(options: GreetingOptions) {
    this.#options = options;
  }

  get serverInfo(): Members {
    return { name: 'watchkeeper', title: 'Watchkeeper', version: this.#options.version };
  }

  initialize(requested: unknown, server: string | undefined, sees: Sees): Members {
    return {
      protocolVersion: agreedRevision(requested),
      capabilities: this.#capabilities(server, 'legacy'),
      serverInfo: this.serverInfo,
      ...this.#instructions(server, sees),
    };
  }

  discover(server: string | undefined, sees: Sees): Members {
    return {
      supportedVersions: [MODERN],
      capabilities: this.#capabilities(server, 'modern'),
      ttlMs: 0,
      cacheScope: 'private',
      ...this.#instructions(server, sees),
    };
  }

  /**
   * On `/mcp` everything the hub can carry: servers come and go while a session lasts. On `/mcp/<server>` what that
   * server declared last, or everything as long as it never connected.
   */
  #capabilities(server: string | undefined, era: 'legacy' | 'modern'): Members {
    const known = server === undefined ? null : this.#options.upstreams.of(server).capabilities;
    const has = (name: string): boolean => known === null || isObject(known[name]);
    return {
      tools: { listChanged: true },
      ...(has('prompts') ? { prompts: { listChanged: true } } : {}),
      ...(has('resources') ? { resources: { listChanged: true, subscribe: true } } : {}),
      ...(has('completions') ? { completions: {} } : {}),
      // Modern clients ask for messages with each request.
      ...(has('logging') || (era === 'legacy' && known !== null && this.#isModern(server)) ? { logging: {} } : {}),
      ...extensionsOf(known),
    };
  }

  #isModern(server: string | undefined): boolean {
    return server !== undefined && this.#options.upstreams.of(server).connection?.agreement.era === 'modern';
  }

  #instructions(server: string | undefined, sees: Sees): Members {
    const all = Object.entries(this.#options.instructions())
      .filter(([name]) => (server === undefined || name === server) && sees(name))
      .map(([name, text]) => ({ server: name, text }));
    const instructions = instructionsPrompt(all);
    return instructions === '' ? {} : { instructions };
  }
}

function extensionsOf(known: Members | null): Members {
  const { extensions } = withoutTasks(known ?? {});
  return isObject(extensions) && Object.keys(extensions).length > 0 ? { extensions } : {};
}
