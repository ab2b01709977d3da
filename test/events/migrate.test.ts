import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { migrate } from '../../src/events/migrate.ts';
import { viewTables } from '../../src/projections/views.ts';
import { atEnd } from '../support/cleanup.ts';
import { projectRoot } from '../support/paths.ts';
import { tempDir } from '../support/temp.ts';

const released = join(projectRoot, 'migrations');
const files = readdirSync(released).sort();

function database(): Database.Database {
  const db = new Database(':memory:');
  atEnd(() => void db.close());
  return db;
}

/** A folder of migrations; the texts count from 1. */
function folderOf(...texts: readonly string[]): string {
  const folder = join(tempDir(), 'migrations');
  mkdirSync(folder);
  texts.forEach((text, index) => {
    writeFileSync(join(folder, `${String(index + 1).padStart(3, '0')}_step.sql`), text);
  });
  return folder;
}

const versionOf = (db: Database.Database): unknown => db.pragma('user_version', { simple: true });
const schemaOf = (db: Database.Database): unknown =>
  db.prepare('select type, name, sql from sqlite_schema order by type, name').all();
const tablesOf = (db: Database.Database): unknown[] =>
  db.prepare("select name from sqlite_schema where type = 'table' order by name").pluck().all();

describe('The migrations of this version', () => {
  it('are numbered without a gap', () => {
    expect(files.map((file) => Number(/^(\d{3})_[a-z]+\.sql$/.exec(file)?.[1]))).toEqual(files.map((_, i) => i + 1));
  });

  it('make the log, the heads and every table a view names, and nothing else', () => {
    const db = database();
    migrate(db, released);
    expect(tablesOf(db)).toEqual(['alive', 'events', 'heads', ...viewTables].sort());
    expect(versionOf(db)).toBe(files.length);
  });

  it('are done once: a second time nothing happens', () => {
    const db = database();
    migrate(db, released);
    const before = schemaOf(db);
    migrate(db, released);
    expect(schemaOf(db)).toEqual(before);
  });

  it('lead to the same format one release at a time as all at once', () => {
    const atOnce = database();
    migrate(atOnce, released);
    const stepwise = database();
    const folder = join(tempDir(), 'migrations');
    mkdirSync(folder);
    for (const [index, file] of files.entries()) {
      copyFileSync(join(released, file), join(folder, file));
      migrate(stepwise, folder);
      expect(versionOf(stepwise)).toBe(index + 1);
    }
    expect(schemaOf(stepwise)).toEqual(schemaOf(atOnce));
  });

  it('let a version of a stream stand in the log only once', () => {
    const db = database();
    migrate(db, released);
    const insert = db.prepare(
      "insert into events (stream, version, type, schema, at, data) values (?, 1, 't', 1, 0, '{}')",
    );
    insert.run('server-a');
    insert.run('server-b');
    expect(() => insert.run('server-a')).toThrow(/UNIQUE/);
  });
});

describe('Bringing a database to the newest format', () => {
  it('keeps what is in it', () => {
    const db = database();
    migrate(db, folderOf('create table one (x); insert into one values (1);'));
    migrate(db, folderOf('never run again', 'alter table one add column y default 2;'));
    expect(db.prepare('select * from one').all()).toEqual([{ x: 1, y: 2 }]);
    expect(versionOf(db)).toBe(2);
  });

  it('passes over files that are no migrations', () => {
    const folder = folderOf('create table one (x);');
    writeFileSync(join(folder, 'README.md'), 'not SQL');
    writeFileSync(join(folder, '002_draft.sql.orig'), 'not SQL');
    const db = database();
    migrate(db, folder);
    expect(versionOf(db)).toBe(1);
  });

  it('refuses a database of a newer version, says which is which and what to do, and changes nothing', () => {
    const db = database();
    migrate(db, folderOf('create table one (x);', 'create table two (x);', 'create table three (x);'));
    const before = schemaOf(db);
    let message = '';
    try {
      migrate(db, folderOf('create table one (x);'));
    } catch (error) {
      message = String(error);
    }
    expect(message).toMatch(/format 3\b.*knows 1\b/);
    expect(message).toMatch(/newer version.*--data/);
    expect(schemaOf(db)).toEqual(before);
    expect(versionOf(db)).toBe(3);
  });

  it('leaves nothing of a step that fails, and keeps the steps before it', () => {
    const db = database();
    const broken = folderOf(
      'create table one (x);',
      'create table two (x); insert into two values (1); insert into nowhere values (1);',
      'create table three (x);',
    );
    expect(() => migrate(db, broken)).toThrow(/nowhere/);
    expect(tablesOf(db)).toEqual(['one']);
    expect(versionOf(db)).toBe(1);
    migrate(db, folderOf('never run again', 'create table two (x);', 'create table three (x);'));
    expect(tablesOf(db)).toEqual(['one', 'three', 'two']);
    expect(versionOf(db)).toBe(3);
  });
});
