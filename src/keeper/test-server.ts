/** Tries an entry without saving it: connect, list, close. */
import type { z } from 'zod';
import { problemText } from '../actors/server/problem.text.ts';
import type { EntryProblem, ResolvedEntry, ServerEntry } from '../config/entry.ts';
import { sha256Hex } from '../hash.ts';
import type { testResult } from '../http/contract.ts';
import { ConnectionError, type OpenConnection } from '../mcp/connection.ts';
import { readTools } from '../mcp/tools.ts';

export interface TestServerOptions {
  readonly open: OpenConnection;
  readonly resolve: (entry: ServerEntry) => ResolvedEntry | EntryProblem;
  readonly runId: string;
  readonly version: string;
}

export type TestServer = (entry: ServerEntry | null) => Promise<z.infer<typeof testResult>>;

export function testServerWith({ open, resolve, runId, version }: TestServerOptions): TestServer {
  return async (entry) => {
    const failed = (kind: 'config' | 'protocol', message: string): z.infer<typeof testResult> => ({
      ok: false,
      error: { class: kind, message, at: new Date().toISOString() },
    });
    if (entry === null) return failed('config', 'the entry cannot be used');
    const resolved = resolve(entry);
    if (!('transport' in resolved)) return failed('config', problemText(resolved));
    let tail: () => string = () => '';
    const limit = AbortSignal.timeout(entry.limits.connectTimeoutMs);
    try {
      const connection = await open({
        entry: resolved,
        verdict: null,
        signal: limit,
        runId,
        version,
        onProcess: async () => {},
        onStderr: (read) => {
          tail = read;
        },
        onWarning: () => {},
      });
      try {
        const { tools } = await connection.listTools(AbortSignal.timeout(entry.limits.listTimeoutMs));
        return {
          ok: true,
          tools: readTools(tools, sha256Hex).tools.map(({ name, description }) => ({ name, description })),
          ...(tail() ? { stderr: tail() } : {}),
        };
      } finally {
        await connection.close();
      }
    } catch (error) {
      const stderr = tail() || (error instanceof ConnectionError ? error.failure.stderrTail : undefined);
      const message = limit.aborted
        ? `initialize: no answer within ${entry.limits.connectTimeoutMs} ms (connectTimeoutMs)`
        : error instanceof Error
          ? error.message
          : String(error);
      return {
        ok: false,
        error: {
          class: error instanceof ConnectionError ? error.failure.class : limit.aborted ? 'timeout' : 'protocol',
          message,
          at: new Date().toISOString(),
        },
        ...(stderr ? { stderr } : {}),
      };
    }
  };
}
