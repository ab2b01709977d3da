/** Changed definitions out of the file, for when no daemon runs. */
import type { ToolChanges } from '../api/client.ts';
import type { DaemonUnreachable } from '../api/errors.ts';
import { unknownServer } from './ask.daemon.ts';
import type { Context } from './command.ts';
import { usedWrongly } from './failure.ts';
import type { Moment } from './moment.ts';
import { fromDatabase, isAhead, placeOf, serversIn } from './offline.log.ts';

/** In the shape of the API. Throws `why` when there is nothing to read. */
export async function offlineChanges(
  { files, env, now }: Pick<Context, 'files' | 'env' | 'now'>,
  { server, from }: { readonly server: string | undefined; readonly from: Moment | undefined },
  why: DaemonUnreachable,
): Promise<ToolChanges> {
  const { readRegistry } = await import('../projections/registry.projection.ts');
  const { CHANGED_LATELY_MS } = await import('../keeper/remarks.ts');
  const { toolChangesOf } = await import('../keeper/trust.ts');
  const { registeredNames, spelledName } = await import('../mcp/naming.ts');
  const { hash8 } = await import('../hash.ts');
  const { settingsOf } = await import('./config.findings.ts');
  const { naming } = await settingsOf(files, env);
  return fromDatabase(files.databaseFile, why, async ({ db, log }) => {
    const known = serversIn(log);
    if (server !== undefined && !known.includes(server)) throw unknownServer(server, known, 'changes');
    if (from && isAhead(log, from, now())) throw usedWrongly('--since lies in the future.', 'changes');
    const lists = readRegistry(db).map((row) => ({ server: row.server, tools: row.tools.map(({ name }) => name) }));
    const names = registeredNames(lists, { maxLength: naming.maxLength, hash8 });
    const since = from ?? { time: now() - CHANGED_LATELY_MS };
    return toolChangesOf(
      {
        log,
        db,
        nameOf: (of, tool) => names.nameOf.get(of)?.get(tool) ?? spelledName({ server: of, tool }),
        toolCalled: (name) => names.toolOf.get(name)?.tool,
      },
      { server, from: placeOf(log, since) },
    );
  });
}
