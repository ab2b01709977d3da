/** Reads a bundle back: in memory, within bounds, and only what a bundle of ours can hold. Nothing is ever written. */
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import type { Recorded } from '../events/envelope.ts';
import { bundleFiles } from './bundle.contents.ts';
import { type Bundle, BundleError, readBundleFiles } from './bundle.format.ts';

const expand = promisify(gunzip);

/** Larger archives are refused unread: ours hold text of one server. */
const LARGEST_BYTES = 64 * 1024 * 1024;
const LARGEST_UNPACKED = 256 * 1024 * 1024;

/** The facts of a bundle file, ascending by position. Rejects with `BundleError`. */
export async function factsOfBundle(file: string): Promise<readonly Recorded[]> {
  return (await readBundle(await bytesOf(file))).facts;
}

/** A whole bundle. Rejects with `BundleError` when the archive is broken, foreign, too large or of a newer version. */
export async function readBundle(archive: Uint8Array): Promise<Bundle> {
  if (archive.length > LARGEST_BYTES) throw new BundleError(tooLarge(LARGEST_BYTES));
  return readBundleFiles(await filesIn(await unpacked(archive)));
}

/** Reads a bundle file. Rejects with `BundleError`; also when there is no such file. */
export async function readBundleFile(file: string): Promise<Bundle> {
  return readBundle(await bytesOf(file));
}

async function bytesOf(file: string): Promise<Uint8Array> {
  try {
    const handle = await open(file);
    try {
      const info = await handle.stat();
      if (!info.isFile()) throw new BundleError(`${file} is no regular file.`);
      if (info.size > LARGEST_BYTES) throw new BundleError(`${file}: ${tooLarge(LARGEST_BYTES)}`);
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof BundleError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    throw new BundleError(
      code === 'ENOENT' ? `There is no file ${file}.` : `${file} cannot be read (${code ?? String(error)}).`,
    );
  }
}

async function unpacked(archive: Uint8Array): Promise<Uint8Array> {
  try {
    return await expand(archive, { maxOutputLength: LARGEST_UNPACKED });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new BundleError(`Unpacked, ${tooLarge(LARGEST_UNPACKED)}`);
    throw new BundleError('It is no bundle of watchkeeper, or it is broken: it cannot be unpacked with gzip.');
  }
}

async function filesIn(tar: Uint8Array): Promise<Map<string, string>> {
  const foreign = (why: string): BundleError => new BundleError(`It is no bundle of watchkeeper: ${why}.`);
  const seen = new Set<string>();
  let folder: string | undefined;
  const admit = ({ name, type }: { name: string; type?: string }): boolean => {
    const [top, file, ...more] = name.split('/');
    if (type !== undefined && type !== 'file') throw foreign('it holds something else than files');
    if (more.length > 0 || !top?.startsWith('watchkeeper-') || file === undefined || !Object.hasOwn(bundleFiles, file))
      throw foreign('it holds a file that no bundle has');
    folder ??= top;
    if (folder !== top || seen.has(file)) throw foreign('it holds more than one bundle');
    seen.add(file);
    return true;
  };
  try {
    const entries = await unpackTar(tar, { strict: true, filter: admit });
    const text = new TextDecoder('utf-8', { fatal: true });
    return new Map(entries.map(({ header, data }) => [header.name.split('/')[1] ?? '', text.decode(data)]));
  } catch (error) {
    if (error instanceof BundleError) throw error;
    throw new BundleError('It is no bundle of watchkeeper, or it is broken: there is no whole tar archive in it.');
  }
}

const tooLarge = (bytes: number): string => `it is larger than ${bytes / 1024 / 1024} MiB, which no bundle is.`;
