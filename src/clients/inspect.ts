/** Reads what `findings.ts` judges: the files of connected clients, the environment, commands. */
import { FileError, readText } from '../config/files.ts';
import type { FileState, Inspected } from './findings.ts';
import { type ClientFinding, inspectClient } from './findings.ts';
import { loadFormat } from './formats/load.ts';
import { clientCalled } from './known.ts';
import { findCommand } from './machine.ts';
import { tokenVariable } from './plan.ts';
import { type Registry, tokenHash } from './registry.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Findings about every connected client, in the order of their ids. `reach`: how entries of a client get to the daemon;
 * null when it does not answer.
 */
export async function inspectClients(
  registry: Registry,
  env: Environment,
  daemon: ((id: string) => NonNullable<Inspected['daemon']>) | null,
): Promise<ClientFinding[]> {
  const found: ClientFinding[] = [];
  for (const [id, connected] of Object.entries(registry)) {
    const client = clientCalled(id);
    if (client === undefined) continue;
    found.push(
      ...inspectClient({
        client,
        connected,
        state: await stateOf(connected.file, client.format, client.key),
        daemon: daemon === null ? null : daemon(id),
        variable: env[tokenVariable(id)],
        hash: tokenHash,
        canStart: (command) => findCommand(command, env) !== null,
      }),
    );
  }
  return found;
}

async function stateOf(file: string, format: Parameters<typeof loadFormat>[0], key: string): Promise<FileState> {
  try {
    const text = await readText(file);
    if (text === null) return { kind: 'missing' };
    const read = (await loadFormat(format)).read(text, key);
    return read.ok ? { kind: 'read', entries: read.entries } : { kind: 'broken', message: read.problem.message };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return { kind: 'broken', message: error.message };
  }
}
