/** What becomes of a tool list: each tool is taken, put right or flagged by itself; none loses the others. */

import { canonicalJson, isTooDeep, MAX_DEPTH } from '../canonical.ts';
import type { ToolDefinition } from '../events/shapes.ts';
import { isMembers, isNames, type Members, schemaProblems } from './schema.ts';

/** SHA-256 of a text as lower-case hex. */
export type Sha256 = (text: string) => string;

/** Warnings of one list; a server that gets everything wrong must not fill the log. */
const MAX_WARNINGS = 20;

export interface AcceptedTool {
  /** In the server's own spelling. */
  readonly name: string;
  /** As received, unknown members included; a member nested deeper than `MAX_DEPTH` is replaced by its hash. */
  readonly definition: ToolDefinition;
  readonly description: string;
  readonly title: string | null;
  /** The input schema, always an object schema: what a client or a model can be given. */
  readonly parameters: Members;
  /** null also when the declared one is unusable: a client that compiles it would lose the whole list. */
  readonly outputSchema: Members | null;
  readonly annotations: Members | null;
  /** Of the definition: see `definitionHash`. */
  readonly hash: string;
  /** What is wrong with the tool though it was taken, in words. */
  readonly flags: readonly string[];
}

export interface ReadTools {
  /** In the order received; names are not empty and occur once. */
  readonly tools: readonly AcceptedTool[];
  /** Flags with the tool's name in front, and tools that were left out. */
  readonly warnings: readonly string[];
}

/** Reads a list as received. Reading the definitions that come out gives the same tools again, less the flags of members left out. */
export function readTools(received: readonly unknown[], sha256: Sha256): ReadTools {
  const tools = new Map<string, AcceptedTool>();
  const warnings: string[] = [];
  received.forEach((raw, index) => {
    if (!isNamed(raw)) {
      warnings.push(`tool number ${index + 1} has no name and is left out`);
    } else if (tools.has(raw.name)) {
      warnings.push(`tool ${quoted(raw.name)} is listed more than once; the first one counts`);
    } else {
      const tool = readTool(raw, sha256);
      tools.set(tool.name, tool);
      for (const flag of tool.flags) warnings.push(`tool ${quoted(tool.name)}: ${flag}`);
    }
  });
  return { tools: [...tools.values()], warnings: firstOf(warnings) };
}

function readTool(raw: ToolDefinition, sha256: Sha256): AcceptedTool {
  const flags: string[] = [];
  const definition = withoutDepths(raw, sha256, flags);
  const { name, description, title, annotations } = definition;
  return {
    name,
    definition,
    description: typeof description === 'string' ? description : '',
    title: titleOf(title) ?? (isMembers(annotations) ? titleOf(annotations.title) : undefined) ?? null,
    parameters: inputSchema(definition.inputSchema, flags),
    outputSchema: outputSchema(definition.outputSchema, flags),
    annotations: isMembers(annotations) ? annotations : null,
    hash: definitionHash(definition, sha256),
    flags,
  };
}

/**
 * Hash of what a grant of one tool is bound to: name, description, schemas and annotations as the server sent them, as
 * JSON with sorted keys. Members that are absent are absent there too.
 */
export function definitionHash(definition: ToolDefinition, sha256: Sha256): string {
  const { name, description, inputSchema, outputSchema, annotations } = definition;
  return sha256(canonicalJson({ name, description, inputSchema, outputSchema, annotations }));
}

/** The server says that a second call does no more than the first. Only a policy of the entry acts on it. */
export const mayBeRepeated = (annotations: Readonly<Record<string, unknown>> | null): boolean =>
  annotations?.readOnlyHint === true || annotations?.idempotentHint === true;

/** Hash of a list as received, every member of every entry; the order of tools and of keys does not count. */
export function listSignature(received: readonly unknown[], sha256: Sha256): string {
  const entries = received.map((raw) => ({ name: isNamed(raw) ? raw.name : '', text: canonicalJson(raw) }));
  entries.sort((a, b) => byCodeUnit(a.name, b.name) || byCodeUnit(a.text, b.text));
  return sha256(`[${entries.map(({ text }) => text).join(',')}]`);
}

export interface ToolChanges {
  readonly added: readonly ToolDefinition[];
  readonly removed: readonly ToolDefinition[];
  readonly changed: readonly {
    readonly name: string;
    readonly before: ToolDefinition;
    readonly after: ToolDefinition;
  }[];
}

/** What differs between two lists, each sorted by name; any member of a definition counts. */
export function diffTools(before: readonly ToolDefinition[], after: readonly ToolDefinition[]): ToolChanges {
  const old = byName(before);
  const now = byName(after);
  const changed = [...now].flatMap(([name, definition]) => {
    const earlier = old.get(name);
    return earlier && canonicalJson(earlier) !== canonicalJson(definition)
      ? [{ name, before: earlier, after: definition }]
      : [];
  });
  return {
    added: [...now.values()].filter(({ name }) => !old.has(name)),
    removed: [...old.values()].filter(({ name }) => !now.has(name)),
    changed,
  };
}

function inputSchema(schema: unknown, flags: string[]): Members {
  if (!isMembers(schema)) {
    flags.push(`inputSchema is ${schema === undefined ? 'missing' : 'not an object'}; any arguments are let through`);
    return { type: 'object', properties: {} };
  }
  let usable = schema;
  if (schema.type !== 'object') {
    const { type, ...rest } = schema;
    flags.push(
      `inputSchema has ${type === undefined ? 'no type' : 'a type that is not "object"'}; it is read as "object"`,
    );
    usable = { type: 'object', ...rest };
  }
  if (usable.required !== undefined && !isNames(usable.required)) {
    const { required, ...rest } = usable;
    flags.push('inputSchema has a "required" that is not a list of names; it is left out');
    usable = rest;
  }
  if (usable.properties !== undefined && !isMembers(usable.properties)) {
    const { properties, ...rest } = usable;
    flags.push('inputSchema has "properties" that are not an object; they are left out');
    usable = rest;
  }
  for (const problem of firstOf(schemaProblems(usable), 3)) flags.push(`inputSchema: ${problem}`);
  return usable;
}

function outputSchema(schema: unknown, flags: string[]): Members | null {
  if (schema === undefined || schema === null) return null;
  if (!isMembers(schema)) {
    flags.push('outputSchema is not an object; it is left out');
    return null;
  }
  const problems = schemaProblems(schema);
  for (const problem of firstOf(problems, 3)) flags.push(`outputSchema is left out: ${problem}`);
  return problems.length > 0 ? null : schema;
}

/** The hash in place of a deep member keeps every later hash and comparison honest about it. */
function withoutDepths(raw: ToolDefinition, sha256: Sha256, flags: string[]): ToolDefinition {
  const deep = Object.keys(raw).filter((key) => isTooDeep(raw[key]));
  if (deep.length === 0) return raw;
  for (const key of deep) flags.push(`${quoted(key)} is nested more than ${MAX_DEPTH} levels deep and is left out`);
  const replaced = deep.map((key) => {
    const $comment = `nested too deeply to be shown; sha256 ${sha256(canonicalJson(raw[key]))}`;
    return [key, key.endsWith('Schema') ? { type: 'object', $comment } : { $comment }];
  });
  return { ...raw, ...Object.fromEntries(replaced) };
}

function isNamed(raw: unknown): raw is ToolDefinition {
  return isMembers(raw) && typeof raw.name === 'string' && raw.name !== '';
}

function byName(tools: readonly ToolDefinition[]): ReadonlyMap<string, ToolDefinition> {
  const sorted = [...tools].sort((a, b) => byCodeUnit(a.name, b.name));
  return new Map(sorted.map((tool) => [tool.name, tool]));
}

function firstOf(texts: readonly string[], most = MAX_WARNINGS): readonly string[] {
  return texts.length <= most ? texts : [...texts.slice(0, most), `and ${texts.length - most} more of this kind`];
}

const titleOf = (title: unknown): string | undefined => (typeof title === 'string' && title !== '' ? title : undefined);

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const quoted = (name: string): string => JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
