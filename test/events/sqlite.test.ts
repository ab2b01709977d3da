import { closeSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/events/catalogue.ts';
import { VersionConflict } from '../../src/events/log.ts';
import {
  openLog,
  openReader,
  readLog,
  type SqliteLog,
  type SqliteLogOptions,
  toldFacts,
} from '../../src/events/sqlite.ts';
import { UnknownShape } from '../../src/events/upcast.ts';
import { atEnd } from '../support/cleanup.ts';
import { projectRoot } from '../support/paths.ts';
import { unrecorded } from '../support/story.ts';
import { tempDir } from '../support/temp.ts';

function open(options: Partial<SqliteLogOptions> = {}): SqliteLog {
  const file = join(tempDir(), 'watchkeeper.db');
  const log = openLog({ file, migrations: join(projectRoot, 'migrations'), durability: 'process', ...options });
  atEnd(() => log.close());
  return log;
}

const enabled: Fact = { type: 'ServerEnabled', data: {} };
const disabled: Fact = { type: 'ServerDisabled', data: {} };
const requested: Fact = { type: 'StopRequested', data: { reason: 'reconnect' } };

/** One fact of stream `server-a`. */
const fact = (version: number, at = 1_000, what: Fact = enabled) => unrecorded('server-a', version, what, { at });
const headAt = (version: number, stream = 'server-a') => ({ stream, version, state: 'idle', context: { version } });

describe('Appending', () => {
  it('gives each fact the next position and answers what was written', async () => {
    const log = open();
    const written = await log.append([fact(1), fact(2, 1_001, disabled)], [headAt(2)]);
    expect(written.map(({ position, version, type }) => [position, version, type])).toEqual([
      [1, 1, 'ServerEnabled'],
      [2, 2, 'ServerDisabled'],
    ]);
    expect(log.read({})).toEqual(written);
    expect(log.lastPosition()).toBe(2);
  });

  it('keeps every member of a fact as it was given', async () => {
    const log = open();
    const data = { reason: 'idle' as const, to: 'stopping' };
    const given = unrecorded('server-ü', 1, { type: 'StopRequested', data }, { at: 1_772_366_400_123, cause: 'c-1' });
    await log.append([given], []);
    expect(log.read({})).toEqual([{ ...given, position: 1 }]);
  });

  it('is one transaction: facts, rows and heads are there together or not at all', async () => {
    const log = open({
      project: (db) => {
        const insert = db.prepare('insert into grants values (?, ?, null, null, ?, ?, 0, ?)');
        return (facts) => {
          for (const { position } of facts) insert.run(String(position), 'unbound', 'file', 'file', position);
          if (facts.some(({ type }) => type === 'StopRequested')) throw new Error('this row cannot be written');
        };
      },
    });
    await log.append([fact(1)], [headAt(1)]);
    await expect(log.append([fact(2), fact(3, 2_000, requested)], [headAt(3)])).rejects.toThrow('cannot be written');
    expect(log.lastPosition()).toBe(1);
    expect(log.head('server-a')).toEqual(headAt(1));
    expect(log.db.prepare('select count(*) from grants').pluck().get()).toBe(1);
    expect(log.lastAlive()).toBe(1_000);
  });

  it('leaves no trace of a failed append in the numbering', async () => {
    const log = open();
    await log.append([fact(1)], []);
    await expect(log.append([fact(2), fact(1)], [])).rejects.toThrow(VersionConflict);
    const [next] = await log.append([fact(2)], []);
    expect(next?.position).toBe(2);
  });

  it('shows the rows of the batch to its projection with the positions they will have', async () => {
    const seen: number[] = [];
    const log = open({ project: () => (facts) => void seen.push(...facts.map(({ position }) => position)) });
    await log.append([fact(1), fact(2)], []);
    await log.append([fact(3)], []);
    expect(seen).toEqual([1, 2, 3]);
  });

  it('takes heads without facts and facts without heads', async () => {
    const log = open();
    expect(await log.append([], [headAt(0)])).toEqual([]);
    await log.append([fact(1)], []);
    expect(log.head('server-a')).toEqual(headAt(0));
  });
});

describe('The expected version', () => {
  it('is refused when it is taken, and then nothing of the batch is written', async () => {
    const log = open();
    await log.append([fact(1), fact(2)], [headAt(2)]);
    const other = unrecorded('server-b', 1, enabled);
    const conflict = await log.append([other, fact(2)], [headAt(9), headAt(1, 'server-b')]).catch((error) => error);
    expect(conflict).toBeInstanceOf(VersionConflict);
    expect(conflict).toMatchObject({ stream: 'server-a', version: 2 });
    expect(log.lastPosition()).toBe(2);
    expect(log.head('server-a')).toEqual(headAt(2));
    expect(log.head('server-b')).toBeNull();
  });

  it('counts in each stream on its own', async () => {
    const log = open();
    await log.append([fact(1), unrecorded('server-b', 1, enabled), fact(2)], []);
    expect(log.read({ stream: 'server-b' }).map(({ version }) => version)).toEqual([1]);
  });

  it('announces nothing of a batch that was refused', async () => {
    const log = open();
    const batches: number[] = [];
    log.committed$.subscribe((facts) => void batches.push(facts.length));
    await log.append([fact(1)], []);
    await log.append([fact(1)], []).catch(() => {});
    expect(batches).toEqual([1]);
  });
});

describe('The feed of committed facts', () => {
  it('gives each batch once, in the order of the log, when it can be read already', async () => {
    const log = open();
    const heard: [number[], number][] = [];
    log.committed$.subscribe((facts) => {
      heard.push([facts.map(({ position }) => position), log.lastPosition()]);
    });
    await Promise.all([log.append([fact(1), fact(2)], []), log.append([fact(3)], []), log.append([fact(4)], [])]);
    expect(heard).toEqual([
      [[1, 2], 2],
      [[3], 3],
      [[4], 4],
    ]);
  });

  it('ends when the log is closed', () => {
    const log = open();
    let ended = false;
    log.committed$.subscribe({ complete: () => (ended = true) });
    log.close();
    expect(ended).toBe(true);
  });
});

describe('Reading', () => {
  async function filled(): Promise<SqliteLog> {
    const log = open();
    await log.append(
      [
        fact(1, 1_000),
        unrecorded('server-b', 1, enabled, { at: 1_000 }),
        fact(2, 2_000, disabled),
        unrecorded('daemon', 1, { type: 'DaemonStopped', data: { run: 'r' } }, { at: 3_000 }),
        fact(3, 4_000),
      ],
      [],
    );
    return log;
  }

  it.each([
    [{}, [1, 2, 3, 4, 5]],
    [{ after: 2 }, [3, 4, 5]],
    [{ upTo: 3 }, [1, 2, 3]],
    [{ after: 1, upTo: 4 }, [2, 3, 4]],
    [{ limit: 2 }, [1, 2]],
    [{ after: 2, limit: 1 }, [3]],
    [{ limit: 0 }, []],
    [{ stream: 'server-a' }, [1, 3, 5]],
    [{ stream: 'server-a', after: 1, limit: 1 }, [3]],
    [{ stream: 'server-a', upTo: 3 }, [1, 3]],
    [{ type: 'ServerEnabled' }, [1, 2, 5]],
    [{ type: 'ServerEnabled', stream: 'server-a' }, [1, 5]],
    [{ type: 'ServerEnabled', after: 1, upTo: 4, limit: 5 }, [2]],
    [{ stream: 'server-a', afterVersion: 1, limit: 1 }, [3]],
    [{ stream: 'server-a', afterVersion: 9 }, []],
    [{ stream: 'server-' }, []],
    [{ stream: 'nobody' }, []],
    [{ type: 'Nothing' }, []],
    [{ after: 5 }, []],
    [{ stream: undefined, type: undefined }, [1, 2, 3, 4, 5]],
    [{ stream: 'server-a', after: 2 }, [3, 5]],
    [{ stream: 'server-a', after: 3, upTo: 4 }, []],
    [{ stream: 'server-b', after: 2 }, []],
    [{ newestFirst: true }, [5, 4, 3, 2, 1]],
    [{ newestFirst: true, upTo: 4, limit: 2 }, [4, 3]],
    [{ newestFirst: true, stream: 'server-a', limit: 2 }, [5, 3]],
    [{ newestFirst: true, stream: 'server-a', upTo: 4 }, [3, 1]],
    [{ newestFirst: true, stream: 'server-a', type: 'ServerEnabled', limit: 1 }, [5]],
  ])('answers %j with positions %j', async (query, positions) => {
    const log = await filled();
    expect(log.read(query).map(({ position }) => position)).toEqual(positions);
  });

  it('tells what analyses need of a stretch of a stream: the same facts, of the types that are wanted', async () => {
    const log = await filled();
    const tell = toldFacts(log.db);
    for (const types of [['ServerEnabled'], ['ServerEnabled', 'ServerDisabled'], []]) {
      for (const [after, upTo] of [
        [0, 9],
        [1, 2],
        [2, 2],
      ] as const) {
        const wanted = log
          .read({ stream: 'server-a' })
          .filter(({ type, version }) => types.includes(type) && version > after && version <= upTo)
          .map(({ position, type, at, data }) => ({ position, type, at, data }));
        expect(tell({ stream: 'server-a', types, after, upTo })).toEqual(wanted);
      }
    }
  });

  it('finds a stretch of a stream wherever other streams and missing beginnings put it', async () => {
    const log = open();
    const mixed = Array.from({ length: 60 }, (_, n) =>
      n % 3 === 0 ? unrecorded('server-b', n / 3 + 1, enabled) : fact(n - Math.floor(n / 3)),
    );
    await log.append(mixed, []);
    log.db.prepare("delete from events where stream = 'server-a' and version < 9").run();
    const all = log.read({}).filter(({ stream }) => stream === 'server-a');
    for (let after = 0; after <= 61; after += 4) {
      for (let upTo = 0; upTo <= 61; upTo += 3) {
        const wanted = all.filter(({ position }) => position > after && position <= upTo);
        expect(log.read({ stream: 'server-a', after, upTo })).toEqual(wanted);
        expect(log.read({ stream: 'server-a', after, upTo, newestFirst: true })).toEqual(wanted.toReversed());
      }
    }
  });

  it('refuses a row of a newer version rather than show it half understood', async () => {
    const log = await filled();
    log.db.prepare("update events set type = 'ServerPraised' where position = 3").run();
    expect(() => log.read({})).toThrow(UnknownShape);
    expect(() => log.read({})).toThrow(/Position 3: .*ServerPraised/);
    expect(log.read({ upTo: 2 })).toHaveLength(2);
  });

  it.each(['no json', 'null', '7', '"text"'])(
    'names a row whose data is %s, and quotes nothing of it',
    async (text) => {
      const log = await filled();
      log.db.prepare('update events set data = ? where position = 3').run(text);
      expect(() => log.read({})).toThrow(/^Position 3: its data is no JSON object\.$/);
    },
  );

  it('works on the file while another process has it open', async () => {
    const file = join(tempDir(), 'watchkeeper.db');
    const log = open({ file });
    const db = openReader(file);
    atEnd(() => void db.close());
    const reader = readLog(db);
    expect(reader.read({})).toEqual([]);
    await log.append([fact(1)], [headAt(1)]);
    expect(reader.read({}).map(({ position }) => position)).toEqual([1]);
    expect(reader.lastPosition()).toBe(1);
    expect(reader.heads()).toEqual([headAt(1)]);
    expect(() => db.prepare('delete from events').run()).toThrow(/readonly/);
  });

  it('does not make a log where there is none', () => {
    expect(() => openReader(join(tempDir(), 'watchkeeper.db'))).toThrow(/directory|open/);
  });
});

describe('The position at a time', () => {
  async function at(...times: readonly number[]): Promise<SqliteLog> {
    const log = open();
    await log.append(
      times.map((time, index) => fact(index + 1, time)),
      [],
    );
    return log;
  }

  it('is 0 in an empty log', () => {
    expect(open().positionAt(5)).toBe(0);
  });

  it.each([
    [999, 0],
    [1_000, 1],
    [1_001, 1],
    [1_999, 1],
    [2_000, 4],
    [2_001, 4],
    [3_000, 5],
    [9_999_999, 5],
  ])('at %d is %d: of equal times the last one', async (time, position) => {
    expect((await at(1_000, 2_000, 2_000, 2_000, 3_000)).positionAt(time)).toBe(position);
  });

  it('agrees with a look at every row, whatever positions are missing', async () => {
    const times = Array.from({ length: 200 }, (_, index) => 1_000 + Math.floor(index / 3) * 10);
    const log = await at(...times);
    const gone = [1, 2, 3, 4, 5, 40, 41, 90, ...Array.from({ length: 60 }, (_, index) => 100 + index), 199];
    log.db.prepare(`delete from events where position in (${gone.join(', ')})`).run();
    const rows = log.read({});
    for (let time = 990; time < 1_700; time += 1) {
      const expected = rows.findLast((row) => row.at <= time)?.position ?? 0;
      expect([time, log.positionAt(time)]).toEqual([time, expected]);
    }
  });
});

describe('Heads', () => {
  it('are the newest ones that were written, sorted by stream', async () => {
    const log = open();
    await log.append([unrecorded('server-b', 1, enabled)], [headAt(1, 'server-b')]);
    await log.append([fact(1)], [headAt(1)]);
    await log.append([fact(2)], [headAt(2)]);
    expect(log.heads()).toEqual([headAt(2), headAt(1, 'server-b')]);
    expect(log.head('server-a')).toEqual(headAt(2));
    expect(log.head('server-c')).toBeNull();
  });
});

describe('When the daemon was last known alive', () => {
  it('is not known before anything happened', () => {
    expect(open().lastAlive()).toBeNull();
  });

  it('is the time of the last batch or of the last touch, without being an event', async () => {
    const log = open();
    await log.append([fact(1, 5_000)], []);
    expect(log.lastAlive()).toBe(5_000);
    log.touch(7_000);
    expect(log.lastAlive()).toBe(7_000);
    expect(log.lastPosition()).toBe(1);
    await log.append([fact(2, 8_000)], []);
    expect(log.lastAlive()).toBe(8_000);
  });
});

describe('The file', () => {
  const pragma = (log: SqliteLog, name: string): unknown => log.db.pragma(name, { simple: true });

  it('is written ahead, so that readers never wait', () => {
    expect(pragma(open(), 'journal_mode')).toBe('wal');
  });

  it.each([
    ['process', 1],
    ['power', 2],
  ] as const)('survives the loss of %s', (durability, synchronous) => {
    expect(pragma(open({ durability }), 'synchronous')).toBe(synchronous);
  });

  it.skipIf(process.platform === 'win32')('stays readable for its owner only, and so do its side files', async () => {
    const file = join(tempDir(), 'watchkeeper.db');
    closeSync(openSync(file, 'a', 0o600));
    const log = open({ file });
    await log.append([fact(1)], []);
    for (const part of [file, `${file}-wal`, `${file}-shm`]) {
      expect([part, statSync(part).mode & 0o777]).toEqual([part, 0o600]);
    }
  });

  it('holds everything when it is opened again', async () => {
    const file = join(tempDir(), 'watchkeeper.db');
    const first = open({ file });
    const written = await first.append([fact(1), fact(2)], [headAt(2)]);
    first.touch(9_000);
    first.close();
    const second = open({ file });
    expect(second.read({})).toEqual(written);
    expect(second.heads()).toEqual([headAt(2)]);
    expect(second.lastAlive()).toBe(9_000);
    expect((await second.append([fact(3)], [])).map(({ position }) => position)).toEqual([3]);
  });

  it('of a newer version is refused and left as it is, and can be opened by others at once', () => {
    const file = join(tempDir(), 'watchkeeper.db');
    const newer = new Database(file);
    newer.pragma('user_version = 999');
    newer.close();
    const before = readFileSync(file);
    expect(() => open({ file })).toThrow(/format 999/);
    expect(readFileSync(file)).toEqual(before);
    expect(readdirSync(dirname(file))).toEqual(['watchkeeper.db']);
  });
});
