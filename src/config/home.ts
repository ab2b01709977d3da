/** The home folder of the person. */
import { homedir, userInfo } from 'node:os';
import { isAbsolute, parse } from 'node:path';

/**
 * `HOME` where it is an absolute path, else what the system knows of the user. An empty or relative one would put files
 * into whatever folder a command happens to run in.
 */
export function homeFolder({ HOME }: Readonly<Record<string, string | undefined>>): string {
  if (HOME && isAbsolute(HOME)) return HOME;
  const known = tried(homedir);
  return known && isAbsolute(known) ? known : (tried(() => userInfo().homedir) ?? parse(process.cwd()).root);
}

/** A user without an entry in the system's list has no home folder. */
function tried(ask: () => string): string | null {
  try {
    return ask();
  } catch {
    return null;
  }
}
