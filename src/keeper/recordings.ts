/** Recordings as people switch them: remembered over restarts as facts of the daemon, ended by trouble with the disk. */
import type { z } from 'zod';
import { isRefusal } from '../actors/refusal.ts';
import type { DaemonFact } from '../events/daemon.events.ts';
import { serverOf } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import type * as contract from '../http/contract.recordings.ts';
import { Problem } from '../http/problem.ts';
import { readRecording } from '../recordings/read.ts';
import type { Recorder } from '../recordings/recorder.ts';
import { FixtureBuilder } from '../replay/fixture/build.ts';
import { iso } from './answers.ts';

type Recording = z.infer<typeof contract.recording>;
type Fixture = z.infer<typeof contract.fixtureAnswer>;
type Started = Extract<DaemonFact, { type: 'RecordingStarted' }>['data'];
type Stopped = Extract<DaemonFact, { type: 'RecordingStopped' }>['data'];

export interface RecordingsParts {
  readonly recorder: Recorder;
  readonly folder: string;
  readonly log: Pick<EventLog, 'read' | 'committed$'>;
  readonly version: string;
  readonly now: () => number;
  /** Answers a refusal when the log takes no facts. */
  readonly tell: (fact: DaemonFact) => Promise<unknown>;
  /** Is written as soon as the log takes facts. */
  readonly report: (fact: DaemonFact) => void;
  readonly known: (server: string) => boolean;
  readonly names: () => readonly string[];
  readonly warn: (server: string, message: string) => void;
}

/** Since when a server is recorded, or why it no longer is. */
interface Switched {
  readonly on: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly reason: string | null;
}

export class Recordings {
  readonly #parts: RecordingsParts;
  readonly #switched = new Map<string, Switched>();

  constructor(parts: RecordingsParts) {
    this.#parts = parts;
    parts.log.committed$.subscribe((facts) => {
      for (const { type, stream } of facts)
        if (type === 'ServerRemoved' && parts.recorder.isOn(serverOf(stream)))
          void this.#stop(serverOf(stream), 'server-removed');
    });
  }

  isOn(server: string): boolean {
    return this.#parts.recorder.isOn(server);
  }

  /** Goes on with what was being recorded when the daemon ended. Before any server is started. */
  async restore(): Promise<void> {
    const { log, recorder } = this.#parts;
    const facts = (['RecordingStarted', 'RecordingStopped'] as const)
      .flatMap((type) => log.read({ stream: 'daemon', type }))
      .sort((a, b) => a.position - b.position);
    for (const { type, at, data } of facts) {
      const { server } = data as Started;
      const on = type === 'RecordingStarted';
      this.#switched.set(server, { on, at, reason: on ? null : reasonOf(data as Stopped) });
    }
    for (const [server, { on }] of this.#switched) {
      if (on) await recorder.start(server).catch((error: unknown) => this.failed(server, String(error)));
    }
  }

  async switch(server: string, on: boolean, andDelete: boolean): Promise<Recording> {
    const { recorder } = this.#parts;
    if (!this.#parts.known(server) && (on || !(await recorder.servers()).includes(server)))
      throw new Problem(
        'unknown-server',
        `There is no server "${server}". Configured: ${this.#parts.names().join(', ') || 'none'}.`,
      );
    if (on) await this.#start(server);
    else if (recorder.isOn(server)) await this.#stop(server, 'asked');
    if (andDelete) await recorder.delete(server);
    return this.#answer(server);
  }

  /** Servers that are recorded or of which there are recordings, sorted by name. */
  async list(): Promise<{ recordings: Recording[] }> {
    const on = [...this.#switched].filter(([, state]) => state.on).map(([server]) => server);
    const names = [...new Set([...(await this.#parts.recorder.servers()), ...on])].sort();
    return { recordings: await Promise.all(names.map((server) => this.#answer(server))) };
  }

  async fixture(server: string, from: number | undefined, to: number | undefined): Promise<Fixture> {
    const { recorder, folder, version, now, known, names } = this.#parts;
    await recorder.flush(server);
    const builder = new FixtureBuilder({ server, by: `watchkeeper ${version}`, now: now(), from, to });
    for await (const line of readRecording(folder, server)) builder.add(line);
    const fixture = builder.done();
    if (fixture !== null) return fixture;
    if (!known(server) && !(await recorder.servers()).includes(server))
      throw new Problem(
        'unknown-server',
        `There is no server "${server}". Configured: ${names().join(', ') || 'none'}.`,
      );
    const when = from === undefined && to === undefined ? '' : ' in that time';
    throw new Problem(
      'not-recorded',
      `Nothing of "${server}" was recorded${when}. Begin: watchkeeper record ${server} on`,
    );
  }

  /** A recording ended by itself. */
  failed(server: string, detail: string): void {
    this.#parts.warn(
      server,
      `The recording ended, because it cannot be written: ${detail}. Free the disk, then: watchkeeper record ${server} on`,
    );
    this.#switched.set(server, { on: false, at: this.#parts.now(), reason: detail });
    this.#parts.report({ type: 'RecordingStopped', data: { server, reason: 'write-failed', detail } });
  }

  close(): Promise<void> {
    return this.#parts.recorder.close();
  }

  async #start(server: string): Promise<void> {
    if (this.#parts.recorder.isOn(server)) return;
    await this.#parts.recorder.start(server).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new Problem('recording-unavailable', `"${server}" cannot be recorded: ${why}`);
    });
    const told = await this.#parts.tell({ type: 'RecordingStarted', data: { server } });
    if (isRefusal(told)) {
      // What would not be remembered is not begun.
      await this.#parts.recorder.stop(server);
      throw new Problem('log-unavailable', told.detail);
    }
    this.#switched.set(server, { on: true, at: this.#parts.now(), reason: null });
  }

  async #stop(server: string, reason: 'asked' | 'server-removed'): Promise<void> {
    await this.#parts.recorder.stop(server);
    this.#switched.set(server, { on: false, at: this.#parts.now(), reason: null });
    this.#parts.report({ type: 'RecordingStopped', data: { server, reason, detail: null } });
  }

  async #answer(server: string): Promise<Recording> {
    const { recorder } = this.#parts;
    const { files, bytes } = await recorder.kept(server);
    const switched = this.#switched.get(server);
    return {
      server,
      on: recorder.isOn(server),
      since: switched === undefined ? null : iso(switched.at),
      error: switched?.reason ?? null,
      files,
      bytes,
    };
  }
}

const reasonOf = ({ reason, detail }: Stopped): string | null => (reason === 'write-failed' ? detail : null);
