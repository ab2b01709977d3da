/** The published catalogue: `docs/events.md` out of the definitions. Pure. */
import { z } from 'zod';
import type { FactDefinition, FactDefinitions, StreamKind } from './define.ts';

interface Stream {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  /** Its facts carry `to`. */
  readonly hasStates: boolean;
}

const streams: Readonly<Record<StreamKind, Stream>> = {
  server: {
    name: 'server-<name>',
    title: 'Servers',
    about: 'One stream a server of the configuration file, for all times it was there.',
    hasStates: true,
  },
  call: {
    name: 'call-<id>',
    title: 'Calls',
    about: 'One stream a tool call. Arguments and results are never in the log, only their sizes and hashes.',
    hasStates: true,
  },
  allowlist: {
    name: 'allowlist',
    title: 'Allowlist',
    about: 'What may run without asking, and what each grant is tied to.',
    hasStates: false,
  },
  config: {
    name: 'config',
    title: 'Configuration',
    about: 'Changes of the configuration file while the daemon runs.',
    hasStates: false,
  },
  daemon: { name: 'daemon', title: 'Daemon', about: 'Starts and stops of the daemon itself.', hasStates: false },
  logins: {
    name: 'logins',
    title: 'Logins',
    about: 'Logins of all servers, and tokens that were renewed. No token, code or secret is ever in the log.',
    hasStates: false,
  },
};

const envelope: readonly (readonly [member: string, type: string, meaning: string])[] = [
  ['position', 'integer', 'Place in the whole log, from 1, ascending; numbers may be missing.'],
  ['stream', 'string', 'What the fact is about.'],
  ['version', 'integer', 'Place in its stream, from 1, without gaps.'],
  ['type', 'string', 'Name of the fact.'],
  ['schema', 'integer', 'Number of the shape of `data`.'],
  ['at', 'integer', 'When it was decided: ms since the epoch in the database, ISO 8601 over HTTP. Never goes back.'],
  ['cause', 'string or null', 'Position of the fact, or id of the command (`c-…`), that led to it.'],
  ['data', 'object', 'The members listed below.'],
];

/** Markdown: the envelope, then one section a stream, in it one a fact with the table of its members. */
export function describeCatalogue(definitions: FactDefinitions): string {
  const kinds = Object.keys(streams) as StreamKind[];
  return [
    '# Events',
    'Everything that can stand in the log. This page is made from the definitions in `src/events`; a test holds it equal to them.',
    "A fact is a noun and a past participle. A released shape is never edited: a new one gets the next schema number, and what was written under an older number is brought to today's shape when it is read.",
    '## The envelope',
    'Table `events` of `watchkeeper.db`, and `GET /v1/events`:',
    table(envelope),
    ...kinds.flatMap((kind) => streamSection(streams[kind], ofStream(definitions, kind))),
  ]
    .join('\n\n')
    .concat('\n');
}

const ofStream = (definitions: FactDefinitions, kind: StreamKind): [string, FactDefinition][] =>
  Object.entries(definitions).filter(([, { stream }]) => stream === kind);

function streamSection(stream: Stream, facts: readonly [string, FactDefinition][]): string[] {
  return [
    `## ${stream.title}: \`${stream.name}\``,
    stream.hasStates ? `${stream.about} Every fact also carries \`to\` (string): the state it led to.` : stream.about,
    ...facts.flatMap(([type, definition]) => factSection(type, definition)),
  ];
}

function factSection(type: string, definition: FactDefinition): string[] {
  const { schema, about } = definition;
  const rows = describeMembers(definition);
  return [`### ${type}`, `Schema ${schema}. ${about}`, rows.length === 0 ? 'It has no members.' : table(rows)];
}

/** Name, type and meaning of each member; those of an object in it follow it as `outer.inner`. */
export function describeMembers({ data }: FactDefinition): [name: string, type: string, meaning: string][] {
  return membersOf(z.toJSONSchema(data) as Shape).map(({ name, type, optional, meaning }) => [
    name,
    optional ? `${type}, optional` : type,
    meaning,
  ]);
}

/** As much of JSON Schema as zod makes of our shapes. */
interface Shape {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
}

interface Member {
  /** With the names of what it stands in: `failure.class`. */
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
  readonly meaning: string;
}

function membersOf(shape: Shape, within = ''): Member[] {
  const required = new Set(shape.required);
  return Object.entries(shape.properties ?? {}).flatMap(([key, value]) => {
    const name = within + key;
    const member = { name, type: typeOf(value), optional: !required.has(key), meaning: value.description ?? '' };
    return [member, ...membersOf(innerOf(value), `${name}.`)];
  });
}

/** The object whose members are listed with the member itself; none for the items of a list. */
const innerOf = (shape: Shape): Shape => shape.anyOf?.find(({ properties }) => properties !== undefined) ?? shape;

function typeOf(shape: Shape): string {
  if (shape.enum) return shape.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (shape.anyOf) return shape.anyOf.map(typeOf).join(' or ');
  if (shape.type === 'array') return `list of ${shape.items ? typeOf(shape.items) : 'anything'}`;
  return typeof shape.type === 'object' ? shape.type.join(' or ') : (shape.type ?? 'anything');
}

function table(rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(['Member', 'Type', 'Meaning']),
    line(['---', '---', '---']),
    ...rows.map(([name = '', ...rest]) => line([`\`${name}\``, ...rest.map((cell) => cell.replaceAll('|', '\\|'))])),
  ].join('\n');
}
