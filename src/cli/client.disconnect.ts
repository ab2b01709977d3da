/** `disconnect`: the way back. Needs no daemon. Loaded by the command only. */
import { withClient } from '../clients/connection.ts';
import { disconnectClient } from '../clients/disconnection.ts';
import { aloneWithClients, readRegistry, writeRegistry } from '../clients/registry.ts';
import { makePrivateDirectory } from '../config/files.ts';
import { diffText, explained, mustBeClient, paintedDiff } from './client.words.ts';
import type { Answer, Context } from './command.ts';

export async function disconnected(
  context: Context,
  word: string,
  { dryRun }: { readonly dryRun: boolean },
): Promise<Answer> {
  const client = mustBeClient(word, 'disconnect');
  const { dataDir } = context.files;
  await makePrivateDirectory(dataDir);
  const done = await explained(`disconnect ${client.id}`, () =>
    aloneWithClients(dataDir, async () => {
      const registry = await readRegistry(dataDir);
      const known = registry[client.id];
      if (known === undefined) return null;
      const result = await disconnectClient(dataDir, client, known, { dryRun });
      if (!dryRun) await writeRegistry(dataDir, withClient(registry, client.id, undefined));
      return result;
    }),
  );
  if (done === null) {
    return {
      kind: 'answer',
      json: { client: client.id, connected: false, written: false, removed: [] },
      text: () => `${client.name} is not connected; nothing to do.\n`,
      confirms: true,
    };
  }
  const { file, before, after, removed, restored } = done;
  const written = !dryRun && before !== after;
  const diff = await diffText(file, before, after);
  const what = restored
    ? `${file} ${dryRun ? 'would be' : 'is'} as it was before`
    : `${dryRun ? 'would remove' : 'removed'} ${removed.length === 0 ? 'nothing' : removed.join(', ')} in ${file}; other changes made there stay`;
  return {
    kind: 'answer',
    json: { client: client.id, connected: true, file, written, restored, removed, dryRun, diff },
    text: ({ paint }) => `${client.name}: ${what}.\n${dryRun ? paintedDiff(diff, paint) : ''}`,
    confirms: true,
    notes: dryRun
      ? [`To do it: watchkeeper disconnect ${client.id}`]
      : written
        ? [`What ${client.name} runs just now may still show them.`]
        : [],
  };
}
