/**
 * The tools of the built-in server: what a person would ask on the command line, for an agent whose tool is gone. They read
 * and change nothing, ask the keeper as HTTP does, and show a client no server it does not see.
 */
import type { z } from 'zod';
import { nearest } from '../config/nearest.ts';
import type { toolsHistory } from '../http/contract.catalog.ts';
import type { doctor } from '../http/contract.doctor.ts';
import type { history, status } from '../http/contract.ts';
import type { Keeper } from '../http/keeper.ts';
import { Problem } from '../http/problem.ts';
import type { RawResult } from '../mcp/connection.ts';
import {
  type Arguments,
  checkArguments,
  momentIn,
  type Parameter,
  TIMES,
  textOf,
  timeIn,
  WrongArguments,
} from './arguments.ts';
import type { BuiltinTool } from './connection.ts';
import { catalogWords, doctorWords, historyWords, statusWords, whyWords } from './words.ts';

export interface BuiltinParts {
  readonly keeper: Pick<Keeper, 'statusText' | 'statusAt' | 'why' | 'history' | 'doctor' | 'toolsHistory'>;
  /** Names of the servers there are, sorted. */
  readonly servers: () => readonly string[];
  /** The server of a tool, by any name a client may know it by. */
  readonly serverOfTool: (name: string) => string | undefined;
  /** Whether a client is shown this server at all. */
  readonly sees: (client: string, server: string) => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

type Status = z.infer<typeof status>;
type Answer = { readonly text: string; readonly body: object };

const DAY_MS = 86_400_000;
/** How far back `history` and `catalog_changes` look unless told otherwise, in ms. */
const HISTORY_MS = DAY_MS;
const CHANGES_MS = 7 * DAY_MS;
const INTERVALS = 50;
const MOST_INTERVALS = 500;

const server: Parameter = {
  type: 'string',
  description: 'Name of the server. The name of one of its tools does as well, such as the one that is gone.',
};
const from = (unless: string): Parameter => ({
  type: 'string',
  description: `Begin there: ${TIMES}. Default: ${unless}.`,
});
const to: Parameter = { type: 'string', description: `End there: ${TIMES}. Default: now.` };
const at: Parameter = {
  type: 'string',
  description: `The moment to look at: ${TIMES}, or a log position. Default: now.`,
};

/** Those who see every server, and those who see some, get the same answers about what they see. */
class Sight {
  readonly #parts: BuiltinParts;
  readonly #client: string;

  constructor(parts: BuiltinParts, client: string) {
    this.#parts = parts;
    this.#client = client;
  }

  shows(name: string): boolean {
    return this.#parts.sees(this.#client, name);
  }

  get names(): string[] {
    return this.#parts.servers().filter((name) => this.shows(name));
  }

  get isWhole(): boolean {
    return this.names.length === this.#parts.servers().length;
  }

  /** The server that is meant, if it is one of those that run or are configured. */
  find(given: string): string | undefined {
    const { names } = this;
    if (names.includes(given)) return given;
    const own =
      this.#parts.serverOfTool(given) ?? names.find((name) => given.replace(/^mcp__/, '').startsWith(`${name}__`));
    return own !== undefined && names.includes(own) ? own : undefined;
  }

  /** The same words for one that is not there and one that is not shown. */
  unknown(given: string): WrongArguments {
    const near = nearest(given, this.names);
    const meant = near === undefined ? '' : ` Did you mean "${near}"?`;
    return new WrongArguments(`There is no server "${given}".${meant} Servers: ${this.names.join(', ') || 'none'}.`);
  }

  /** One that is there, or undefined when none is named. */
  existing(args: Arguments): string | undefined {
    const given = textOf(args, 'server');
    if (given === undefined) return undefined;
    const found = this.find(given);
    if (found === undefined) throw this.unknown(given);
    return found;
  }

  /** One that may be gone from the file: its past is still known. */
  past(args: Arguments): string {
    const given = textOf(args, 'server');
    if (given === undefined) throw new WrongArguments('`server` is missing. The tool `status` lists the servers.');
    const found = this.find(given) ?? given;
    if (!this.shows(found)) throw this.unknown(given);
    return found;
  }
}

interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly required: readonly string[];
  /** It asks more than the daemon's own memory: programs, hosts. */
  readonly looksAround?: true;
  readonly answer: (parts: BuiltinParts, sight: Sight, args: Arguments) => Answer | Promise<Answer>;
}

const statusTool: Tool = {
  name: 'status',
  title: 'Status of the MCP servers',
  description:
    'Lists the MCP servers behind this hub: which are ready, how many tools each has, what the last error was, and when the next attempt is due. Call this first when a tool is missing or fails.',
  parameters: { server },
  required: [],
  answer({ keeper, now }, sight, args) {
    const one = sight.existing(args);
    const all = JSON.parse(keeper.statusText()) as Status;
    const body = { servers: all.servers.filter(({ name }) => (one === undefined ? sight.shows(name) : name === one)) };
    return { body, text: statusWords(body, now()) };
  },
};

const whyTool: Tool = {
  name: 'why',
  title: 'Why a server is as it is',
  description:
    'Explains why one MCP server is in its present state, or was in an earlier one: the chain of events that led there, what changed shortly before, the last words of its process, and what a person can do about it.',
  parameters: { server, at },
  required: ['server'],
  answer({ keeper, now }, sight, args) {
    const name = sight.past(args);
    const whole = known(sight, name, () => keeper.why({ name, at: momentIn(args, 'at', now()) }));
    // Whoever failed at the same time is named there.
    const body = sight.isWhole ? whole : { ...whole, changes: whole.changes.filter(({ kind }) => kind !== 'others') };
    return { body, text: whyWords(body) };
  },
};

const historyTool: Tool = {
  name: 'history',
  title: 'History of a server',
  description:
    'Lists the states one MCP server was in, with the time, the duration and the cause of each, so that you can see how often and for how long it was away.',
  parameters: {
    server,
    from: from('a day ago'),
    to,
    limit: { type: 'integer', description: `Newest intervals at most, 1 to ${MOST_INTERVALS}. Default: ${INTERVALS}.` },
  },
  required: ['server'],
  answer({ keeper, now }, sight, args) {
    const name = sight.past(args);
    const limit = args.limit === undefined ? INTERVALS : Number(args.limit);
    if (limit < 1 || limit > MOST_INTERVALS) throw new WrongArguments(`\`limit\` must be from 1 to ${MOST_INTERVALS}.`);
    const end = timeIn(args, 'to', now());
    const begin = timeIn(args, 'from', now()) ?? (end ?? now()) - HISTORY_MS;
    const { intervals }: z.infer<typeof history> = known(sight, name, () =>
      keeper.history({ name, from: begin, to: end }),
    );
    const body = { intervals: intervals.slice(-limit) };
    return { body, text: historyWords(name, body, intervals.length - body.intervals.length, now()) };
  },
};

const doctorTool: Tool = {
  name: 'doctor',
  title: 'What is wrong with the servers',
  description:
    'Examines one MCP server, or all of them: a verdict with its reasons, checks such as whether the command exists and the port answers, and the setting or command that would help. It starts no server and may take some seconds.',
  parameters: { server: { ...server, description: `${server.description} Default: all servers.` } },
  required: [],
  looksAround: true,
  async answer({ keeper }, sight, args) {
    const one = sight.existing(args);
    const body = one !== undefined || sight.isWhole ? await keeper.doctor(one) : await some(keeper, sight.names);
    return { body, text: doctorWords(body) };
  },
};

const changesTool: Tool = {
  name: 'catalog_changes',
  title: 'How tools changed',
  description:
    'Lists which tools MCP servers added, removed or changed, with the words that differ. A tool that is gone although its server is ready was taken away by the server, and is listed here.',
  parameters: {
    server: { ...server, description: `${server.description} Default: all servers.` },
    from: from('7 days ago'),
    to,
  },
  required: [],
  async answer({ keeper, now }, sight, args) {
    const one = textOf(args, 'server') === undefined ? undefined : sight.past(args);
    const end = timeIn(args, 'to', now());
    const begin = timeIn(args, 'from', now()) ?? (end ?? now()) - CHANGES_MS;
    const found = known(sight, one ?? '', () =>
      keeper.toolsHistory({ server: one, from: { time: begin }, ...(end === undefined ? {} : { to: { time: end } }) }),
    );
    if (one !== undefined && found.tools.length === 0 && !sight.names.includes(one)) throw sight.unknown(one);
    const shown = <Row extends { readonly server: string }>(rows: readonly Row[]): Row[] =>
      rows.filter((row) => sight.shows(row.server));
    const body: z.infer<typeof toolsHistory> = {
      changes: shown(found.changes),
      difference: found.difference && shown(found.difference),
      tools: shown(found.tools),
    };
    const { lineText, toolDiff } = await import('../replay/tool.diff.ts');
    const text = catalogWords(body, ({ before, after, parts }) =>
      before && after ? toolDiff(before, after, parts).map((line) => lineText(line)) : [],
    );
    return { body, text };
  },
};

/** The verdicts on some servers; on the daemon nothing is said to those who do not see all of it. */
async function some(keeper: BuiltinParts['keeper'], names: readonly string[]): Promise<z.infer<typeof doctor>> {
  const answers = await Promise.all(names.map((name) => keeper.doctor(name)));
  return { ok: answers.every(({ ok }) => ok), servers: answers.flatMap(({ servers }) => servers) };
}

/** What the keeper says of a name it does not know names servers that are not shown. */
function known<T>(sight: Sight, name: string, ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    if (error instanceof Problem && error.type === 'unknown-server' && !sight.names.includes(name))
      throw sight.unknown(name);
    throw error;
  }
}

const tools: readonly Tool[] = [statusTool, whyTool, historyTool, doctorTool, changesTool];

/** The five tools, sorted by name as every list is. */
export const builtinTools = (parts: BuiltinParts): BuiltinTool[] =>
  tools
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((tool) => ({
      definition: {
        name: tool.name,
        title: tool.title,
        description: tool.description,
        inputSchema: {
          type: 'object',
          properties: tool.parameters,
          ...(tool.required.length > 0 ? { required: [...tool.required] } : {}),
          additionalProperties: false,
        },
        annotations: {
          title: tool.title,
          readOnlyHint: true,
          idempotentHint: true,
          openWorldHint: tool.looksAround ?? false,
        },
      },
      run: (args, client) => run(parts, tool, args, client),
    }));

/** What a model can put right is a result it can read, and no error of the protocol. */
async function run(parts: BuiltinParts, tool: Tool, args: Arguments, client: string): Promise<RawResult> {
  try {
    checkArguments(args, tool.parameters);
    const { text, body } = await tool.answer(parts, new Sight(parts, client), args);
    return { content: [{ type: 'text', text }], structuredContent: body };
  } catch (error) {
    if (!(error instanceof WrongArguments || error instanceof Problem)) throw error;
    const text = error instanceof Problem ? error.detail : error.message;
    return { content: [{ type: 'text', text }], isError: true };
  }
}

/** What the server says of itself. */
export const builtinInstructions =
  'These tools tell how the other MCP servers of this hub are. When a tool is missing, fails or answers slowly, call `status`, then `why` for the server concerned.';
