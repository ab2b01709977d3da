/** What a bundle is: one folder of small text files about one server, to be attached to a report. Pure. */
import { z } from 'zod';
import { definitionOf } from '../events/catalogue.ts';
import type { Recorded } from '../events/envelope.ts';
import { serverInfo } from '../events/shapes.ts';
import { UnknownShape, upcast } from '../events/upcast.ts';
import type { BundleFileName } from './bundle.contents.ts';
import { iso } from './words.ts';

export interface BundleFile {
  readonly name: BundleFileName;
  readonly text: string;
}

const time = z.iso.datetime();
const text = z.string().nullable();

export const manifest = z.object({
  format: z.literal('watchkeeper-bundle'),
  /** Grows when a reader of an older version would misunderstand the files. */
  version: z.literal(1),
  server: z.string().min(1),
  createdAt: time,
  from: time,
  to: time,
  /** State and context before the first fact of the server; null when that was too far back to fold. */
  start: z.object({ state: z.string(), version: z.number().int().nonnegative(), context: z.unknown() }).nullable(),
  facts: z.number().int().nonnegative(),
  /** Older facts of the window were left out. */
  truncated: z.boolean(),
  versions: z.object({
    watchkeeper: z.string(),
    node: z.string(),
    os: z.string(),
    transport: text,
    era: text,
    protocol: text,
    serverInfo: serverInfo.nullable(),
  }),
});
export type Manifest = z.infer<typeof manifest>;

/** What a bundle holds for a replay. */
export interface Bundle {
  readonly manifest: Manifest;
  /** Facts of the server, the daemon and the configuration; ascending by position. */
  readonly facts: readonly Recorded[];
}

/** It is not a bundle, or one that cannot be read. The message is fit for a person. */
export class BundleError extends Error {
  override readonly name = 'BundleError';
}

/** A fact as a line, in the shape of `GET /v1/events`. */
export const factLine = ({ position, stream, version, type, schema, at, cause, data }: Recorded): string =>
  JSON.stringify({ position, stream, version, type, schema, at: iso(at), cause, data });

const envelope = z.object({
  position: z.number().int().positive(),
  stream: z.string().min(1),
  version: z.number().int().positive(),
  type: z.string(),
  schema: z.number().int().positive(),
  at: time,
  cause: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
});

/** Throws `BundleError` for a file that is not there or does not say what a bundle's says. */
export function readBundleFiles(files: ReadonlyMap<string, string>): Bundle {
  const about = parsed(files.get('bundle.json') ?? '', 'bundle.json');
  const version = (about as { version?: unknown } | null)?.version;
  if (typeof version === 'number' && version > 1)
    throw new BundleError(`A newer version of watchkeeper made this bundle (format ${version}); update to read it.`);
  const read = manifest.safeParse(about);
  if (!read.success) throw new BundleError('It is no bundle of watchkeeper: bundle.json does not say so.');
  const lines = (files.get('facts.ndjson') ?? '').split('\n').filter((line) => line !== '');
  const facts = lines.map((line, index) => factOf(line, index + 1));
  if (facts.length !== read.data.facts)
    throw new BundleError(
      `The bundle is broken: facts.ndjson has ${facts.length} facts, bundle.json says ${read.data.facts}.`,
    );
  facts.forEach(({ position }, index) => {
    if (position <= (facts[index - 1]?.position ?? 0))
      throw new BundleError(`The bundle is broken: line ${index + 1} of facts.ndjson is not in the order of the log.`);
  });
  return { manifest: read.data, facts };
}

function factOf(line: string, number: number): Recorded {
  const where = `line ${number} of facts.ndjson`;
  const read = envelope.safeParse(parsed(line, where));
  if (!read.success) throw new BundleError(`The bundle is broken: ${where} is no fact.`);
  const { data: written, schema: under, at, ...rest } = read.data;
  try {
    const { schema, data } = upcast(rest.type, under, written);
    if (!definitionOf(rest.type)?.data.safeParse(data).success)
      throw new BundleError(`The bundle is broken: ${where} is not what a ${rest.type} is.`);
    return { ...rest, schema, at: Date.parse(at), data } as unknown as Recorded;
  } catch (error) {
    if (error instanceof UnknownShape) throw new BundleError(`${where}: ${error.message}`);
    throw error;
  }
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BundleError(`It is no bundle of watchkeeper, or it is broken: ${where} is missing or no JSON.`);
  }
}
