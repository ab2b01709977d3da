/** A bundle as an archive: `tar xzf` opens it. */
import { homedir, platform, release, userInfo } from 'node:os';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { packTar } from 'modern-tar';
import type { BundleFile, Manifest } from './bundle.format.ts';
import type { Private } from './bundle.scrub.ts';

const compress = promisify(gzip);

export interface Packed {
  /** `watchkeeper-<server>-<time>.tar.gz`. */
  readonly fileName: string;
  readonly bytes: Buffer;
}

/** Everything is in one folder, readable by its owner alone. */
export async function packBundle({ server, createdAt }: Manifest, files: readonly BundleFile[]): Promise<Packed> {
  const folder = `watchkeeper-${server}-${createdAt.replace(/[-:]|\.\d+/g, '')}`;
  const tar = await packTar(
    files.map(({ name, text }) => {
      const body = new TextEncoder().encode(text);
      const header = {
        name: `${folder}/${name}`,
        type: 'file' as const,
        size: body.length,
        mode: 0o600,
        mtime: new Date(createdAt),
      };
      return { header, body };
    }),
  );
  return { fileName: `${folder}.tar.gz`, bytes: await compress(tar) };
}

/** What of this machine belongs into a bundle, and what must not. */
export function thisMachine(env: Readonly<Record<string, string | undefined>>): {
  readonly versions: { readonly node: string; readonly os: string };
  readonly private: Omit<Private, 'secrets'>;
} {
  const given = (values: readonly (string | undefined)[]): string[] => values.flatMap((value) => value || []);
  const homes = given([homedir(), env.HOME, env.USERPROFILE]);
  const users = given([env.USER, env.LOGNAME, env.USERNAME, nameOfUser(), ...homes.map((home) => basename(home))]);
  return {
    versions: { node: process.version, os: `${platform()} ${release()} ${process.arch}` },
    private: { homes, users },
  };
}

function nameOfUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // A user id without an entry, as in some containers.
    return undefined;
  }
}
