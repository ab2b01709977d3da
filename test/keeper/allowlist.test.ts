import { chmodSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SeenServer, SeenTool } from '../../src/actors/allowlist/allowlist.commands.ts';
import type { AllowlistContext } from '../../src/actors/allowlist/allowlist.state.ts';
import { Allowlist } from '../../src/keeper/allowlist.ts';
import { readGrants } from '../../src/projections/allowlist.projection.ts';
import { type DeskUnderTest, deskUnderTest } from '../support/actors.ts';
import { atEnd } from '../support/cleanup.ts';
import { tempDir } from '../support/temp.ts';
import { until } from '../support/wait.ts';

const get = 'mcp__a__get';
const put = 'mcp__a__put';
const all = 'mcp__a__*';
const other = 'mcp__b__get';

interface Given {
  readonly file: string;
  readonly under: DeskUnderTest;
  readonly allowlist: Allowlist;
  readonly warnings: string[];
  /** What is listed; may be changed. */
  readonly seen: { tools: SeenTool[]; servers: SeenServer[] };
  /** `entry state`, sorted by entry. */
  grants(): string[];
  types(): string[];
  save(...lines: readonly string[]): void;
  text(): string;
}

const tool = (name: string, definition = 'd', identity = 'i'): SeenTool => ({
  name,
  server: name.split('__')[1] ?? '',
  identity,
  definition,
});

async function given(
  lines: readonly string[] | null,
  {
    trusted = true,
    tools = [tool(get), tool(put), tool(other)],
    under = deskUnderTest(),
    file = join(tempDir(), 'allow_tool'),
  } = {},
): Promise<Given> {
  const warnings: string[] = [];
  const seen = { tools, servers: [{ server: 'a', identity: 'i' }] };
  const row = under.log.head('allowlist');
  const allowlist = new Allowlist({
    file,
    trusted,
    desk: under.desk,
    head: row ? { ...row, context: row.context as AllowlistContext } : undefined,
    seen: () => seen,
    warn: (message) => warnings.push(message),
  });
  atEnd(() => allowlist.unwatch());
  const save = (...content: readonly string[]): void => {
    writeFileSync(`${file}.next`, content.map((line) => `${line}\n`).join(''));
    renameSync(`${file}.next`, file);
  };
  if (lines) save(...lines);
  await allowlist.load();
  return {
    file,
    under,
    allowlist,
    warnings,
    seen,
    grants: () => allowlist.grants.map(({ entry, state }) => `${entry} ${state}`),
    types: () => under.log.read({ stream: 'allowlist' }).map(({ type }) => type),
    save,
    text: () => readFileSync(file, 'utf8'),
  };
}

describe('Lines of the file', () => {
  it('are grants, tied to what is listed when the daemon first sees both', async () => {
    const here = await given(['# mine', get, all]);
    expect(here.grants()).toEqual([`${all} bound`, `${get} bound`]);
    expect(here.allowlist.grantsFor('a', get).map(({ binding }) => binding)).toEqual([
      { identity: 'i', definition: 'd' },
      { identity: 'i', definition: null },
    ]);
    expect(here.types()).toEqual(['GrantAdded', 'GrantAdded', 'GrantBound', 'GrantBound']);
    expect(readGrants(here.under.log.real.db).map(({ entry, state }) => `${entry} ${state}`)).toEqual(here.grants());
  });

  it('that name nothing listed wait, and grant nothing until then', async () => {
    const here = await given([get], { tools: [] });
    expect(here.grants()).toEqual([`${get} unbound`]);
    here.seen.tools.push(tool(get));
    await here.allowlist.bind();
    expect(here.grants()).toEqual([`${get} bound`]);
  });

  it('that are no entries grant nothing and are left alone', async () => {
    const lines = ['# comment', '', 'read_file', 'mcp__a__g*', 'mcp____x', 'MCP__a__get'];
    const here = await given(lines);
    expect(here.grants()).toEqual([]);
    expect(here.text()).toBe(lines.map((line) => `${line}\n`).join(''));
  });

  it('are taken as they are edited by hand', async () => {
    const here = await given([get]);
    here.allowlist.watch();
    here.save(put, other);
    await until(() => here.grants().length === 2 && here.grants().every((grant) => grant.endsWith(' bound')));
    expect(here.grants()).toEqual([`${put} bound`, `${other} bound`]);
    here.save();
    await until(() => here.grants().length === 0);
  });

  it('are no news when the daemon starts again', async () => {
    const here = await given([get]);
    const before = here.types();
    const again = await given(null, { under: here.under, file: here.file });
    expect(again.grants()).toEqual([`${get} bound`]);
    expect(again.types()).toEqual(before);
  });

  it('that went while the daemon was down grant nothing when it starts again', async () => {
    const here = await given([get, put]);
    here.save(put);
    const again = await given(null, { under: here.under, file: here.file });
    expect(again.grants()).toEqual([`${put} bound`]);
  });

  it('are there to be missing: no file is no grant', async () => {
    const here = await given(null);
    expect(here.grants()).toEqual([]);
    expect(here.warnings).toEqual([]);
    expect(existsSync(here.file)).toBe(false);
  });

  it('that cannot be read change nothing, and that is said', async () => {
    const here = await given([get]);
    here.allowlist.watch();
    writeFileSync(here.file, Buffer.from([0xff, 0xfe, 0x6d]));
    await until(() => here.warnings.length > 0);
    expect(here.warnings[0]).toContain(here.file);
    expect(here.grants()).toEqual([`${get} bound`]);
  });
});

describe.skipIf(process.platform === 'win32')('A file that every user of the machine may write', () => {
  it('grants nothing new, says which command mends that, and counts once it is mended', async () => {
    const here = await given([get]);
    here.allowlist.watch();
    chmodSync(here.file, 0o666);
    writeFileSync(here.file, `${get}\n${put}\n`);
    await until(() => here.warnings.length > 0);
    expect(here.warnings[0]).toBe(
      `${here.file}: its lines do not count: every user of this machine may write ${here.file}; look through it, then: chmod o-w ${here.file}`,
    );
    expect(here.grants()).toEqual([`${get} bound`]);
    chmodSync(here.file, 0o644);
    await until(() => here.grants().length === 2);
  });

  it('or in a folder they may all write in, is no better', async () => {
    const here = await given([get]);
    chmodSync(join(here.file, '..'), 0o777);
    const again = await given([get, put], { under: here.under, file: here.file });
    expect(again.grants()).toEqual([`${get} bound`]);
    expect(again.warnings[0]).toContain(
      `every user of this machine may replace ${here.file}; look through it, then: chmod o-w`,
    );
  });
});

describe('A file that is not trusted', () => {
  it('grants nothing, and how to trust it is said', async () => {
    const here = await given([get, put], { trusted: false });
    expect(here.grants()).toEqual([]);
    expect(here.warnings.join('\n')).toMatch(/2 lines do not count.*config trust/);
  });

  it('still holds grants that were given through the daemon', async () => {
    const here = await given([get], { trusted: false });
    await here.allowlist.replace('mcp__a__', [put], 'main');
    expect(here.grants()).toEqual([`${put} bound`]);
    expect(here.text()).toBe(`${put}\n`);
    const again = await given(null, { trusted: false, under: here.under, file: here.file });
    expect(again.grants()).toEqual([`${put} bound`]);
  });
});

describe('Replacing the entries of a server', () => {
  it('keeps every other line as it was, in its place', async () => {
    const here = await given(['# first', get, 'not an entry', other, '# last']);
    expect(await here.allowlist.replace('mcp__a__', [put], 'main')).toEqual([put]);
    expect(here.text()).toBe(`# first\n${put}\nnot an entry\n${other}\n# last\n`);
    expect(here.grants()).toEqual([`${put} bound`, `${other} bound`]);
  });

  it('takes the whole server for all of its tools', async () => {
    const here = await given([get]);
    expect(await here.allowlist.replace('mcp__a__', [get, all, put], 'main')).toEqual([all]);
    expect(here.text()).toBe(`${all}\n`);
  });

  it('with nothing takes all of them away', async () => {
    const here = await given([get, put, other]);
    expect(await here.allowlist.replace('mcp__a__', [], 'main')).toEqual([]);
    expect(here.text()).toBe(`${other}\n`);
    expect(here.grants()).toEqual([`${other} bound`]);
  });

  it.each([
    ['mcp__a', []],
    ['mcp__', []],
    ['mcp__a__g', []],
    ['', [get]],
    ['mcp__a__', [get, other]],
    ['mcp__a__', ['mcp__a__']],
    ['mcp__a__', ['mcp__a__g*']],
    ['mcp__a__', [`${get}\n${other}`]],
  ])('with %j and %j is refused, and nothing changes', async (prefix, entries) => {
    const here = await given([get]);
    const before = here.types();
    await expect(here.allowlist.replace(prefix, entries, 'main')).rejects.toMatchObject({ type: 'prefix-invalid' });
    expect(here.text()).toBe(`${get}\n`);
    expect(here.types()).toEqual(before);
  });

  it.skipIf(process.platform === 'win32')('makes the file for its owner only', async () => {
    const here = await given(null);
    await here.allowlist.replace('mcp__a__', [get], 'main');
    expect(statSync(here.file).mode & 0o777).toBe(0o600);
  });

  it('is seen by the watch without a second round', async () => {
    const here = await given([get]);
    here.allowlist.watch();
    await here.allowlist.replace('mcp__a__', [put], 'main');
    const before = here.types();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(here.types()).toEqual(before);
    expect(here.grants()).toEqual([`${put} bound`]);
  });

  it('of many servers at once loses none', async () => {
    const here = await given(['# top']);
    const prefixes = Array.from({ length: 10 }, (_, index) => `mcp__s${index}__`);
    await Promise.all(prefixes.map((prefix) => here.allowlist.replace(prefix, [`${prefix}x`], 'main')));
    expect(here.allowlist.grants.map(({ entry }) => entry)).toEqual(prefixes.map((prefix) => `${prefix}x`));
    expect(here.text().split('\n').filter(Boolean).sort()).toEqual([
      '# top',
      ...prefixes.map((prefix) => `${prefix}x`),
    ]);
  });

  it('is refused while the log takes nothing, and then grants nothing later either', async () => {
    const here = await given([other]);
    here.under.log.fail();
    await expect(here.allowlist.replace('mcp__a__', [get], 'main')).rejects.toMatchObject({ type: 'log-unavailable' });
    await expect(here.allowlist.remember(get, { identity: 'i', definition: 'd' }, 'ann')).rejects.toMatchObject({
      type: 'log-unavailable',
    });
    expect(here.text()).toBe(`${other}\n`);
    here.under.log.mend();
    const again = await given(null, { under: here.under, file: here.file });
    expect(again.grants()).toEqual([`${other} bound`]);
  });
});

describe('What a grant is tied to', () => {
  it.each([
    ['tool', { definition: 'changed' }],
    ['server', { identity: 'changed' }],
  ])('suspends it when the %s changes, with before and after', async (changed, now) => {
    const here = await given([get]);
    here.seen.tools.splice(0, 1, { ...tool(get), ...now });
    await here.allowlist.bind();
    expect(here.grants()).toEqual([`${get} suspended`]);
    const before = { identity: 'i', definition: 'd' };
    expect(here.under.log.read({ type: 'GrantSuspended' })).toMatchObject([
      { data: { entry: get, before, after: { ...before, ...now }, changed } },
    ]);
    expect(here.text()).toBe(`${get}\n`);
  });

  it('of a whole server minds the server and no tool', async () => {
    const here = await given([all]);
    here.seen.tools.splice(0, 1, tool(get, 'changed'));
    await here.allowlist.bind();
    expect(here.grants()).toEqual([`${all} bound`]);
    here.seen.servers.splice(0, 1, { server: 'a', identity: 'changed' });
    here.seen.tools.splice(0, 2, tool(get, 'd', 'changed'), tool(put, 'd', 'changed'));
    await here.allowlist.bind();
    expect(here.grants()).toEqual([`${all} suspended`]);
  });

  it('stays when the tool is not listed for a while', async () => {
    const here = await given([get]);
    const [first] = here.seen.tools.splice(0, 1);
    await here.allowlist.bind();
    expect(here.grants()).toEqual([`${get} bound`]);
    if (first) here.seen.tools.push(first);
    await here.allowlist.bind();
    expect(here.types().filter((type) => type === 'GrantSuspended')).toEqual([]);
  });

  async function suspended(): Promise<Given> {
    const here = await given([get]);
    here.seen.tools.splice(0, 1, tool(get, 'changed'));
    await here.allowlist.bind();
    expect(here.grants()).toEqual([`${get} suspended`]);
    return here;
  }

  it('is renewed by giving it again', async () => {
    const here = await suspended();
    await here.allowlist.replace('mcp__a__', [get], 'main');
    expect(here.allowlist.grants).toMatchObject([{ state: 'bound', binding: { definition: 'changed' } }]);
  });

  it('is renewed by remembering an approval', async () => {
    const here = await suspended();
    await here.allowlist.remember(get, { identity: 'i', definition: 'changed' }, 'ann');
    expect(here.allowlist.grants).toMatchObject([{ state: 'bound', binding: { definition: 'changed' } }]);
    expect(here.text()).toBe(`${get}\n`);
  });

  it('is renewed by taking the line out and putting it back', async () => {
    const here = await suspended();
    here.allowlist.watch();
    here.save('# nothing');
    await until(() => here.grants().length === 0);
    here.save(get);
    await until(() => here.grants()[0] === `${get} bound`);
  });

  it('is not renewed by the old definition coming back', async () => {
    const here = await suspended();
    here.seen.tools.splice(0, 1, tool(get));
    await here.allowlist.bind();
    expect(here.grants()).toEqual([`${get} suspended`]);
  });
});

describe('Remembering an approval', () => {
  it('adds a line, tied to what the person saw', async () => {
    const here = await given(['# mine']);
    await here.allowlist.remember(get, { identity: 'i', definition: 'd' }, 'ann');
    expect(here.text()).toBe(`# mine\n${get}\n`);
    expect(readGrants(here.under.log.real.db)).toMatchObject([
      { entry: get, state: 'bound', origin: 'approval', grantedBy: 'ann', definition: 'd' },
    ]);
  });
});

describe('A server that is removed', () => {
  it('takes its grants with it, out of the file too, and no others', async () => {
    const here = await given(['# mine', get, all, other]);
    await here.allowlist.removeServer('a');
    expect(here.grants()).toEqual([`${other} bound`]);
    expect(here.text()).toBe(`# mine\n${other}\n`);
    expect(here.under.log.read({ type: 'GrantRemoved' }).map(({ data }) => data)).toEqual([
      { entry: all, origin: 'server-removed', by: 'daemon' },
      { entry: get, origin: 'server-removed', by: 'daemon' },
    ]);
  });

  it('without grants leaves the file alone', async () => {
    const here = await given([other]);
    const before = statSync(here.file).mtimeMs;
    await here.allowlist.removeServer('a');
    expect(statSync(here.file).mtimeMs).toBe(before);
  });

  it('is done before anything is tied to the next one of its name', async () => {
    const here = await given([get]);
    const removal = here.allowlist.removeServer('a');
    here.seen.tools.splice(0, 1, tool(get, 'd', 'the next one'));
    await here.allowlist.bind();
    await removal;
    expect(here.grants()).toEqual([]);
    expect(here.types()).not.toContain('GrantSuspended');
  });
});
