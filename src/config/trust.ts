/** Which config files outside the user's home may bring their own `allow_tool` and `watchkeeper.json`. */
import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { FileError, makePrivateDirectory, readText } from './files.ts';
import { byCodeUnit } from './names.ts';
import { isObject } from './raw.ts';
import { updateFile } from './update.ts';

export const trustFileOf = (dataDir: string): string => join(dataDir, 'trusted.json');

/**
 * Whether the files beside a config file count: its folder, links followed, is within the home folder, or somebody
 * trusted this very path. An unreadable trust file trusts nothing.
 */
export async function isTrusted(configFile: string, home: string, dataDir: string): Promise<boolean> {
  const [place, own] = [await placeOf(configFile), await real(home)];
  const way = relative(own, dirname(place));
  if (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return true;
  return trustedIn(await readText(trustFileOf(dataDir)).catch(() => null)).includes(place);
}

/** Records that the files beside this config file count from now on. Rejects with a FileError. */
export async function trust(configFile: string, dataDir: string): Promise<void> {
  const place = await placeOf(configFile);
  await makePrivateDirectory(dataDir);
  await updateFile(trustFileOf(dataDir), (text) => {
    const known = trustedIn(text);
    if (text !== null && known.length === 0 && !isTrustText(text)) {
      throw new FileError(`${trustFileOf(dataDir)} cannot be read; remove it and trust the file again`);
    }
    const configs = [...new Set([...known, place])].sort(byCodeUnit);
    return `${JSON.stringify({ configs }, null, 2)}\n`;
  });
}

/** The folder with links followed, the name as given: what the link at the end points at is beside the point. */
async function placeOf(configFile: string): Promise<string> {
  const path = resolve(configFile);
  return join(await real(dirname(path)), basename(path));
}

const real = (path: string): Promise<string> => realpath(path).catch(() => resolve(path));

function parse(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

const isTrustText = (text: string): boolean => {
  const value = parse(text);
  return isObject(value) && Array.isArray(value.configs);
};

function trustedIn(text: string | null): readonly string[] {
  const value = parse(text);
  if (!isObject(value) || !Array.isArray(value.configs)) return [];
  return value.configs.filter((path) => typeof path === 'string');
}
