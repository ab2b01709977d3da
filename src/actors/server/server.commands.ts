/** What can be asked of a server, and what the world reports of it. A report can not be refused: it has already happened. */

import type { Failure, Limits, ToolDefinition, Transport } from '../../events/shapes.ts';
import type { Agreement } from '../../mcp/connection.ts';

export interface Configuration {
  readonly revision: string;
  readonly identity: string;
  readonly transport: Transport | null;
  readonly wanted: 'on' | 'off';
  readonly lazy: boolean;
  readonly limits: Limits;
  readonly problem: { readonly field: string; readonly message: string } | null;
}

export type ServerCommand =
  | { readonly type: 'ConfigureServer'; readonly configuration: Configuration }
  | { readonly type: 'RemoveServer' }
  | { readonly type: 'StartServer' }
  | { readonly type: 'ReconnectServer' }
  | { readonly type: 'StopServer' }
  /** Boot: whatever the last daemon left open is closed at the time it was last known alive. */
  | { readonly type: 'CloseOpenEnds'; readonly lastAlive: number }
  | ServerReport;

/** `connection` says which connection reports; a report of another than the present one is dropped. */
export type ServerReport =
  | { readonly type: 'ReportProcess'; readonly connection: number; readonly pid: number; readonly startedAt: number }
  | {
      readonly type: 'ReportConnected';
      readonly connection: number;
      readonly agreement: Agreement;
      readonly tookMs: number;
    }
  | { readonly type: 'ReportFailure'; readonly connection: number; readonly failure: Failure }
  | {
      readonly type: 'ReportTimeout';
      readonly connection: number;
      readonly of: 'connect' | 'list';
      readonly stderrTail?: string;
    }
  | {
      readonly type: 'ReportTools';
      readonly connection: number;
      readonly signature: string;
      readonly tools: readonly ToolDefinition[];
      readonly warnings: readonly string[];
      readonly tookMs: number;
    }
  | { readonly type: 'ReportListFailed'; readonly connection: number; readonly failure: Failure }
  | { readonly type: 'ReportPush'; readonly connection: number; readonly push: boolean; readonly reason?: string }
  | { readonly type: 'ReportBackoffElapsed'; readonly connection: number }
  | { readonly type: 'ReportStable'; readonly connection: number }
  | { readonly type: 'ReportUnused'; readonly connection: number }
  | { readonly type: 'ReportStopped'; readonly connection: number };
