import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { isWholeConfig } from '../../src/config/load.ts';
import { type FileContent, type WatchOptions, watchFile } from '../../src/config/watch.ts';
import { atEnd } from '../support/cleanup.ts';
import { tempDir } from '../support/temp.ts';
import { until } from '../support/wait.ts';

const show = (content: FileContent): string => (content.kind === 'text' ? content.text : content.kind);

/** Watches with times that leave room for a slow machine wherever a test depends on something not happening. */
function watching(file: string, options: WatchOptions = {}) {
  const seen: string[] = [];
  const subscription = watchFile(file, { settleMs: 60, patienceMs: 400, pollMs: 150, ...options }).subscribe(
    (content) => seen.push(show(content)),
  );
  atEnd(() => subscription.unsubscribe());
  return {
    seen,
    stop: () => subscription.unsubscribe(),
    /** Waits until that many contents were seen, and a while longer for one too many. */
    async has(...expected: string[]): Promise<void> {
      await until(() => seen.length >= expected.length, {
        what: `${expected.length} contents, have ${JSON.stringify(seen)}`,
      });
      await sleep(250);
      expect(seen).toEqual(expected);
    },
  };
}
const replace = (file: string, text: string): void => {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
};

describe('a watched file', () => {
  it('is seen as it is at first, and once for each save in place', async () => {
    const file = join(tempDir(), 'mcp.json');
    writeFileSync(file, 'one');
    const watch = watching(file);
    await watch.has('one');
    writeFileSync(file, 'two');
    await watch.has('one', 'two');
  });

  it('is not seen at first when it is known', async () => {
    const file = join(tempDir(), 'mcp.json');
    writeFileSync(file, 'one');
    const watch = watching(file, { known: { kind: 'text', text: 'one' } });
    await sleep(300);
    expect(watch.seen).toEqual([]);
    writeFileSync(file, 'two');
    await watch.has('two');
  });

  it('is seen when it changed before the watch began', async () => {
    const file = join(tempDir(), 'mcp.json');
    writeFileSync(file, 'two');
    await watching(file, { known: { kind: 'text', text: 'one' } }).has('two');
  });

  it('is seen once for each of three saves by renaming', async () => {
    const file = join(tempDir(), 'mcp.json');
    replace(file, '1');
    const watch = watching(file);
    await watch.has('1');
    replace(file, '2');
    await watch.has('1', '2');
    replace(file, '3');
    await watch.has('1', '2', '3');
    replace(file, '4');
    await watch.has('1', '2', '3', '4');
  });

  it('is not seen when it is written anew with the same content', async () => {
    const file = join(tempDir(), 'mcp.json');
    writeFileSync(file, 'one');
    const watch = watching(file);
    await watch.has('one');
    writeFileSync(file, 'one');
    replace(file, 'one');
    await sleep(400);
    expect(watch.seen).toEqual(['one']);
  });

  it('is seen when the content changes and its size does not', async () => {
    const file = join(tempDir(), 'mcp.json');
    writeFileSync(file, 'aaa');
    const watch = watching(file);
    await watch.has('aaa');
    writeFileSync(file, 'bbb');
    await watch.has('aaa', 'bbb');
  });

  it('that is deleted and written again is seen once', async () => {
    const file = join(tempDir(), 'mcp.json');
    writeFileSync(file, 'one');
    const watch = watching(file, { patienceMs: 20_000 });
    await watch.has('one');
    rmSync(file);
    await sleep(200);
    writeFileSync(file, 'two');
    await watch.has('one', 'two');
  });

  it('that is deleted for good is missing', async () => {
    const file = join(tempDir(), 'mcp.json');
    writeFileSync(file, 'one');
    const watch = watching(file);
    await watch.has('one');
    rmSync(file);
    await watch.has('one', 'missing');
    writeFileSync(file, 'one');
    await watch.has('one', 'missing', 'one');
  });

  it('may appear later, folders included', async () => {
    const dir = tempDir();
    const file = join(dir, 'config/agenvoy/mcp.json');
    const watch = watching(file);
    await watch.has('missing');
    mkdirSync(join(dir, 'config/agenvoy'), { recursive: true });
    writeFileSync(file, 'one');
    await watch.has('missing', 'one');
  });

  it('behind a link is seen when the target is written, replaced or another', async () => {
    const dir = tempDir();
    mkdirSync(join(dir, 'dotfiles'));
    const [link, a, b] = [join(dir, 'mcp.json'), join(dir, 'dotfiles/a.json'), join(dir, 'dotfiles/b.json')];
    writeFileSync(a, 'a1');
    writeFileSync(b, 'b1');
    symlinkSync(a, link);
    const watch = watching(link);
    await watch.has('a1');
    writeFileSync(a, 'a2');
    await watch.has('a1', 'a2');
    replace(a, 'a3');
    await watch.has('a1', 'a2', 'a3');
    symlinkSync(b, `${link}.new`);
    renameSync(`${link}.new`, link);
    await watch.has('a1', 'a2', 'a3', 'b1');
    replace(b, 'b2');
    await watch.has('a1', 'a2', 'a3', 'b1', 'b2');
  });

  it('is seen by looking alone, where no event comes', async () => {
    const dir = tempDir();
    const file = join(dir, 'a/mcp.json');
    mkdirSync(join(dir, 'a'));
    writeFileSync(file, 'one');
    const watch = watching(file);
    await watch.has('one');
    // The directory that is watched is gone; the one in its place has no watch yet.
    renameSync(join(dir, 'a'), join(dir, 'old'));
    mkdirSync(join(dir, 'a'));
    writeFileSync(file, 'two');
    await watch.has('one', 'two');
  });

  it('that cannot be read is unusable, and does not end the watch', async () => {
    const file = join(tempDir(), 'mcp.json');
    writeFileSync(file, Buffer.from([0xff, 0xfe, 0x7b]));
    const watch = watching(file);
    await watch.has('unusable');
    writeFileSync(file, 'fine');
    await watch.has('unusable', 'fine');
  });

  it('is left alone once nobody watches', async () => {
    const file = join(tempDir(), 'mcp.json');
    writeFileSync(file, 'one');
    const watch = watching(file);
    await watch.has('one');
    watch.stop();
    writeFileSync(file, 'two');
    await sleep(400);
    expect(watch.seen).toEqual(['one']);
    expect(readFileSync(file, 'utf8')).toBe('two');
  });
});

describe('a file written in two halves', () => {
  const before = '{"servers":{"a":{"command":"x"}}}';
  const after = '{"servers":{"a":{"command":"x"},"b":{"command":"y"}}}';

  it('is never seen half when a whole one can be told', async () => {
    const file = join(tempDir(), 'mcp.json');
    writeFileSync(file, before);
    const watch = watching(file, { isWhole: isWholeConfig, patienceMs: 20_000 });
    await watch.has(before);
    writeFileSync(file, after.slice(0, 30));
    await sleep(300);
    writeFileSync(file, after.slice(30), { flag: 'a' });
    await watch.has(before, after);
  });

  it('is never seen empty in between', async () => {
    const file = join(tempDir(), 'mcp.json');
    writeFileSync(file, before);
    const watch = watching(file, { isWhole: isWholeConfig, patienceMs: 20_000 });
    await watch.has(before);
    writeFileSync(file, '');
    await sleep(300);
    writeFileSync(file, after);
    await watch.has(before, after);
  });

  it('is not seen half when it settles slowly and no one can tell', async () => {
    const file = join(tempDir(), 'allow_tool');
    writeFileSync(file, 'a');
    const watch = watching(file, { settleMs: 3000 });
    await until(() => watch.seen.length === 1);
    writeFileSync(file, 'b');
    await sleep(300);
    writeFileSync(file, 'c', { flag: 'a' });
    await until(() => watch.seen.length === 2);
    expect(watch.seen).toEqual(['a', 'bc']);
  });

  it('and left half is reported in the end', async () => {
    const file = join(tempDir(), 'mcp.json');
    writeFileSync(file, before);
    const watch = watching(file, { isWhole: isWholeConfig });
    await watch.has(before);
    writeFileSync(file, after.slice(0, 30));
    await watch.has(before, after.slice(0, 30));
  });
});
