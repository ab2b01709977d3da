import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isTrusted, trust, trustFileOf } from '../../src/config/trust.ts';
import { tempDir } from '../support/temp.ts';

function place() {
  const dir = tempDir();
  const [home, data, other] = ['home', 'data', 'other'].map((name) => join(dir, name)) as [string, string, string];
  for (const folder of [join(home, 'sub'), other]) mkdirSync(folder, { recursive: true });
  return { dir, home, data, other, config: join(other, 'mcp.json') };
}

describe('a config file', () => {
  it('within the home folder is trusted', async () => {
    const { home, data } = place();
    expect(await isTrusted(join(home, 'mcp.json'), home, data)).toBe(true);
    expect(await isTrusted(join(home, 'sub/mcp.json'), home, data)).toBe(true);
    expect(await isTrusted(join(home, '..x/mcp.json'), home, data)).toBe(true);
  });

  it('elsewhere is not, until someone trusts it', async () => {
    const { home, data, config, other } = place();
    expect(await isTrusted(config, home, data)).toBe(false);
    await trust(config, data);
    expect(await isTrusted(config, home, data)).toBe(true);
    expect(await isTrusted(join(other, 'other.json'), home, data)).toBe(false);
  });

  it('whose path only begins like the home folder is elsewhere', async () => {
    const { home, data } = place();
    mkdirSync(`${home}-2`);
    expect(await isTrusted(join(`${home}-2`, 'mcp.json'), home, data)).toBe(false);
    expect(await isTrusted(join(home, '../mcp.json'), home, data)).toBe(false);
  });

  it('is judged by where its folder really is', async () => {
    const { dir, home, data, other, config } = place();
    symlinkSync(other, join(home, 'link'));
    expect(await isTrusted(join(home, 'link/mcp.json'), home, data)).toBe(false);
    symlinkSync(other, join(dir, 'way'));
    await trust(join(dir, 'way/mcp.json'), data);
    expect(await isTrusted(config, home, data)).toBe(true);
  });
});

describe('the record of trust', () => {
  it('is for the owner alone, and holds each file once', async () => {
    const { data, config, other } = place();
    await Promise.all([trust(config, data), trust(config, data), trust(join(other, 'b.json'), data)]);
    expect(JSON.parse(readFileSync(trustFileOf(data), 'utf8'))).toEqual({ configs: [join(other, 'b.json'), config] });
    expect(statSync(trustFileOf(data)).mode & 0o777).toBe(0o600);
    expect(statSync(data).mode & 0o777).toBe(0o700);
  });

  it.each(['', 'x', '[]', '{"configs":"all"}', '{"configs":[1,true]}'])(
    'that holds %j trusts nothing',
    async (text) => {
      const { home, data, config } = place();
      mkdirSync(data);
      writeFileSync(trustFileOf(data), text);
      expect(await isTrusted(config, home, data)).toBe(false);
    },
  );

  it('that cannot be read is not overwritten', async () => {
    const { data, config } = place();
    mkdirSync(data);
    writeFileSync(trustFileOf(data), 'x');
    await expect(trust(config, data)).rejects.toThrow(/trusted\.json cannot be read; remove it/);
    expect(readFileSync(trustFileOf(data), 'utf8')).toBe('x');
  });
});
