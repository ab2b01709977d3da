/** What `/metrics` tells a Prometheus server. */

import type { Registry } from 'prom-client';
import { serverOf } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';

export interface MetricsOptions {
  readonly log: EventLog;
  /** State of each server now. */
  readonly states: () => readonly { readonly name: string; readonly state: string; readonly tools: number }[];
  /** Sessions of the MCP endpoint now. */
  readonly sessions: () => number;
  readonly version: string;
}

export class Metrics {
  readonly #options: MetricsOptions;
  readonly #facts = new Map<string, number>();
  readonly #outcomes = new Map<string, number>();
  readonly #losses = new Map<string, number>();
  #registry: Registry | null = null;

  constructor(options: MetricsOptions) {
    this.#options = options;
    options.log.committed$.subscribe((facts) => {
      for (const { type, stream, data } of facts) {
        count(this.#facts, type);
        if (type === 'CallSettled' && 'outcome' in data) count(this.#outcomes, String(data.outcome));
        if (type === 'SessionLost') count(this.#losses, serverOf(stream));
      }
    });
  }

  async text(): Promise<string> {
    this.#registry ??= await this.#build();
    return this.#registry.metrics();
  }

  async #build(): Promise<Registry> {
    // Loaded when somebody asks: it would delay the opening of the port.
    const { collectDefaultMetrics, Counter, Gauge, Registry } = await import('prom-client');
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    const { states, log, sessions, version } = this.#options;
    const registers = [registry];
    new Gauge({ name: 'watchkeeper_info', help: 'Version of the daemon.', labelNames: ['version'], registers }).set(
      { version },
      1,
    );
    new Gauge({
      name: 'watchkeeper_server_state',
      help: '1 for the state a server is in.',
      labelNames: ['server', 'state'],
      registers,
      collect() {
        this.reset();
        for (const { name, state } of states()) this.set({ server: name, state }, 1);
      },
    });
    new Gauge({
      name: 'watchkeeper_server_tools',
      help: 'Tools a server lists.',
      labelNames: ['server'],
      registers,
      collect() {
        this.reset();
        for (const { name, tools } of states()) this.set({ server: name }, tools);
      },
    });
    new Gauge({
      name: 'watchkeeper_log_position',
      help: 'Position of the newest fact.',
      registers,
      collect() {
        this.set(log.lastPosition());
      },
    });
    new Gauge({
      name: 'watchkeeper_mcp_sessions',
      help: 'Sessions of AI clients that the MCP endpoint keeps.',
      registers,
      collect() {
        this.set(sessions());
      },
    });
    const counter = (name: string, help: string, label: string, counts: ReadonlyMap<string, number>): void => {
      new Counter({
        name,
        help,
        labelNames: [label],
        registers,
        collect() {
          this.reset();
          for (const [value, times] of counts) this.inc({ [label]: value }, times);
        },
      });
    };
    counter('watchkeeper_facts_total', 'Facts committed since the daemon started.', 'type', this.#facts);
    counter('watchkeeper_calls_total', 'Calls that ended since the daemon started.', 'outcome', this.#outcomes);
    counter('watchkeeper_sessions_lost_total', 'Connections lost since the daemon started.', 'server', this.#losses);
    return registry;
  }
}

const count = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
