/** One file that two clients read: each would write the entries of the other anew, for ever. */
import { linkTarget } from '../config/files.ts';
import type { ClientDescriptor } from './descriptor.ts';
import { clientCalled } from './known.ts';
import type { Registry } from './registry.ts';

/** Entries that stand for another connected client in the file of this one: its name, by the name of the entry. */
export async function entriesOfOthers(
  registry: Registry,
  client: ClientDescriptor,
  file: string,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const target = await targetOf(file);
  for (const [id, other] of Object.entries(registry)) {
    const known = clientCalled(id);
    if (id === client.id || known?.key !== client.key || (await targetOf(other.file)) !== target) continue;
    for (const entry of other.entries) found.set(entry, known.name);
  }
  return found;
}

/** A link that leads nowhere is told of when the file is read. */
const targetOf = (file: string): Promise<string> => linkTarget(file).catch(() => file);
