import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configEditor } from '../../src/config/edit.ts';
import { parseConfig } from '../../src/config/parse.ts';
import { updateFile } from '../../src/config/update.ts';
import { tempDir } from '../support/temp.ts';

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const text = (path: string): string => readFileSync(path, 'utf8');
const names = (path: string): string[] => {
  const parsed = parseConfig(text(path));
  if (!parsed.ok) throw new Error(parsed.problem.message);
  return parsed.config.entries.map(({ name }) => name);
};
function file(content: string, name = 'mcp.json'): string {
  const path = join(tempDir(), name);
  writeFileSync(path, content);
  return path;
}

describe('adding a server', () => {
  it('makes the file and its folders for the owner alone', async () => {
    const path = join(tempDir(), 'config/agenvoy/mcp.json');
    await configEditor(path).setEntry('a', { command: 'x', args: ['1'] });
    expect(text(path)).toBe(`{
  "servers": {
    "a": {
      "command": "x",
      "args": [
        "1"
      ]
    }
  }
}
`);
    expect([mode(path), mode(dirname(path)), mode(dirname(dirname(path)))]).toEqual(['600', '700', '700']);
  });

  it.each(['', '\n', '\uFEFF', '{}'])('to the file %j begins it', async (content) => {
    const path = file(content);
    await configEditor(path).setEntry('a', { command: 'x' });
    expect(names(path)).toEqual(['a']);
    expect(text(path).startsWith('\uFEFF')).toBe(content.startsWith('\uFEFF'));
    expect(text(path)).toContain('"servers"');
  });

  it('to a file of comments keeps them', async () => {
    const path = file('{\n  // nothing yet\n}\n');
    await configEditor(path).setEntry('a', { command: 'x' });
    expect(text(path)).toContain('// nothing yet');
    expect(names(path)).toEqual(['a']);
  });

  it('leaves everything else as it was', async () => {
    const before =
      '\uFEFF// mine\r\n{\r\n\t"inputs": [1],\r\n\t"mcpServers": {\r\n\t\t"b": { "command": "y", "custom": { "k": 1 } }, // second letter\r\n\t},\r\n}\r\n';
    const path = file(before);
    await configEditor(path).setEntry('a', { command: 'x' });
    expect(text(path)).toBe(before.replace('letter\r\n', 'letter\r\n\t\t"a": {\r\n\t\t\t"command": "x"\r\n\t\t},\r\n'));
  });

  it.each([
    ['{"mcpServers":{}}', 'mcpServers'],
    ['{"servers":{}}', 'servers'],
    ['{"mcpServers":{},"servers":{}}', 'servers'],
    ['{"servers":null,"mcpServers":{}}', 'mcpServers'],
    ['{"x":1}', 'servers'],
  ])('to %s goes under %s', async (content, key) => {
    const path = file(content);
    await configEditor(path).setEntry('a', { command: 'x' });
    expect(JSON.parse(text(path))[key]).toEqual({ a: { command: 'x' } });
  });

  it('writes a name in whatever place it stood', async () => {
    const path = file('{"servers":{},"mcpServers":{"a":{"command":"old"}}}');
    await configEditor(path).setEntry('a', { command: 'new' });
    expect(JSON.parse(text(path))).toEqual({ servers: {}, mcpServers: { a: { command: 'new' } } });
  });

  it('replaces an entry and keeps comments on what stays', async () => {
    const path = file(
      '{"servers":{\n  "a": {\n    // the good one\n    "command": "x", // run\n    "args": ["1"]\n  }\n}}',
    );
    await configEditor(path).setEntry('a', { command: 'x', env: { A: '1' } });
    expect(text(path)).toContain('// the good one');
    expect(text(path)).toContain('"command": "x", // run');
    expect(parseConfig(text(path))).toMatchObject({
      ok: true,
      raw: new Map([['a', { command: 'x', env: { A: '1' } }]]),
    });
  });

  it('gets the stored entry and can refuse', async () => {
    const path = file('{"servers":{"a":{"command":"x"}}}');
    const editor = configEditor(path);
    await editor.setEntry('a', (stored) => ({ ...(stored as object), lazy: true }));
    expect(JSON.parse(text(path)).servers.a).toEqual({ command: 'x', lazy: true });
    const before = text(path);
    await expect(
      editor.setEntry('a', () => {
        throw new Error('refused');
      }),
    ).rejects.toThrow('refused');
    expect(text(path)).toBe(before);
  });

  it.each(['{"servers":', '[]', '{"servers":[]}'])('to %s is refused and changes nothing', async (content) => {
    const path = file(content);
    await expect(configEditor(path).setEntry('a', { command: 'x' })).rejects.toMatchObject({
      name: 'EditError',
      kind: 'unreadable',
    });
    expect(text(path)).toBe(content);
  });

  it('to a file that is not UTF-8 is refused and changes nothing', async () => {
    const path = join(tempDir(), 'mcp.json');
    const bytes = Buffer.from([0x7b, 0x7d, 0xff]);
    writeFileSync(path, bytes);
    await expect(configEditor(path).setEntry('a', { command: 'x' })).rejects.toThrow(/UTF-8/);
    expect(readFileSync(path)).toEqual(bytes);
  });
});

describe('an edit', () => {
  it('that changes nothing writes nothing', async () => {
    const path = file('{ "servers": { "a": { "command":"x" , "args":[ ] } } }');
    const before = statSync(path, { bigint: true });
    await configEditor(path).setEntry('a', { args: [], command: 'x' });
    await configEditor(path).setDisabled('a', false);
    expect(await configEditor(path).removeEntry('b')).toBeNull();
    expect(statSync(path, { bigint: true })).toMatchObject({ ino: before.ino, mtimeNs: before.mtimeNs });
  });

  it.each([0o644, 0o640, 0o600, 0o400])('keeps the mode %o', async (wanted) => {
    const path = file('{}');
    chmodSync(path, wanted);
    await configEditor(path).setEntry('a', { command: 'x' });
    expect(statSync(path).mode & 0o777).toBe(wanted);
  });

  it('goes through links, also two of them, and leaves them links', async () => {
    const dir = tempDir();
    mkdirSync(join(dir, 'dotfiles'));
    const target = join(dir, 'dotfiles/real.json');
    writeFileSync(target, '{}');
    symlinkSync('dotfiles/real.json', join(dir, 'middle.json'));
    symlinkSync(join(dir, 'middle.json'), join(dir, 'mcp.json'));
    await configEditor(join(dir, 'mcp.json')).setEntry('a', { command: 'x' });
    expect(lstatSync(join(dir, 'mcp.json')).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(dir, 'middle.json')).isSymbolicLink()).toBe(true);
    expect(names(target)).toEqual(['a']);
  });

  it('makes the file a link points at', async () => {
    const dir = tempDir();
    symlinkSync('elsewhere/real.json', join(dir, 'mcp.json'));
    await configEditor(join(dir, 'mcp.json')).setEntry('a', { command: 'x' });
    expect(lstatSync(join(dir, 'mcp.json')).isSymbolicLink()).toBe(true);
    expect(names(join(dir, 'elsewhere/real.json'))).toEqual(['a']);
  });

  it('leaves no temporary file behind, whether it succeeds or not', async () => {
    const path = file('{}');
    await configEditor(path).setEntry('a', { command: 'x' });
    await configEditor(path)
      .setDisabled('b', true)
      .catch(() => undefined);
    expect(readdirSync(dirname(path)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('does not lose what another program wrote meanwhile', async () => {
    const path = file('first');
    let reads = 0;
    await updateFile(path, (before) => {
      reads += 1;
      if (reads === 1) writeFileSync(path, 'second');
      return `${before} and ours`;
    });
    expect(text(path)).toBe('second and ours');
  });

  it('in the place of a folder says what is wrong', async () => {
    const path = join(file('not a folder'), 'mcp.json');
    await expect(configEditor(path).setEntry('a', { command: 'x' })).rejects.toMatchObject({ name: 'FileError' });
  });
});

describe('removing a server', () => {
  it('keeps the comments of the others', async () => {
    const path = file(
      '{\n  "servers": {\n    // first\n    "a": {"command": "x"},\n    // second\n    "b": {"command": "y"} // last\n  }\n}\n',
    );
    await configEditor(path).removeEntry('a');
    expect(text(path)).toBe(
      '{\n  "servers": {\n    // first\n    // second\n    "b": {"command": "y"} // last\n  }\n}\n',
    );
  });

  it('removes it wherever it stands', async () => {
    const path = file(
      '{"servers":{"a":{"command":"1"},"a":{"command":"2"},"b":{}},"mcpServers":{"a":{"command":"3"}}}',
    );
    expect(await configEditor(path).removeEntry('a')).toBe(text(path));
    expect(JSON.parse(text(path))).toEqual({ servers: { b: {} }, mcpServers: {} });
  });

  it('from a file that is not there does nothing', async () => {
    const path = join(tempDir(), 'mcp.json');
    expect(await configEditor(path).removeEntry('a')).toBeNull();
    expect(existsSync(path)).toBe(false);
  });

  it('works for names that are not valid', async () => {
    const path = file('{"servers":{"__proto__":{"command":"x"},"a/b":{"command":"y"}}}');
    await configEditor(path).removeEntry('__proto__');
    await configEditor(path).removeEntry('a/b');
    expect(JSON.parse(text(path))).toEqual({ servers: {} });
  });
});

describe('disabling and enabling a server', () => {
  it('sets the key and nothing else', async () => {
    const path = file('{"servers":{\n  "a": {\n    "command": "x" // run\n  }\n}}');
    await configEditor(path).setDisabled('a', true);
    expect(text(path)).toBe('{"servers":{\n  "a": {\n    "command": "x", // run\n    "disabled": true\n  }\n}}');
    await configEditor(path).setDisabled('a', false);
    expect(JSON.parse(text(path).replace('// run', '')).servers.a).toEqual({ command: 'x', disabled: false });
  });

  it.each([
    ['{"servers":{}}', 'unknown-server'],
    ['{"servers":{"a":"x"}}', 'failed'],
  ])('in %s is refused as %s', async (content, kind) => {
    await expect(configEditor(file(content)).setDisabled('a', true)).rejects.toMatchObject({ kind });
  });
});

describe('renaming a server', () => {
  it('leaves it in its place with its comments', async () => {
    const path = file('{"servers": {"z": {}, /* odd */ "a b": {"command":"x" /* y */}, "c": {}}}');
    await configEditor(path).renameEntry('a b', 'a-b');
    expect(text(path)).toBe('{"servers": {"z": {}, /* odd */ "a-b": {"command":"x" /* y */}, "c": {}}}');
  });

  it.each([
    ['{"servers":{"a":{},"b":{}}}', 'name-taken'],
    ['{"servers":{"a":{}},"mcpServers":{"b":{}}}', 'name-taken'],
    ['{"servers":{"a":{},"a":{}}}', 'ambiguous'],
    ['{"servers":{"a":{}},"mcpServers":{"a":{}}}', 'ambiguous'],
    ['{"servers":{}}', 'unknown-server'],
  ])('in %s is refused as %s', async (content, kind) => {
    const path = file(content);
    await expect(configEditor(path).renameEntry('a', 'b')).rejects.toMatchObject({ kind });
    expect(text(path)).toBe(content);
  });
});

describe('thirty edits at once', () => {
  it('end with thirty entries', async () => {
    const path = join(tempDir(), 'mcp.json');
    const wanted = Array.from({ length: 30 }, (_, index) => `server-${index}`).sort();
    await Promise.all(wanted.map((name) => configEditor(path).setEntry(name, { command: name })));
    expect(names(path)).toEqual(wanted);
  });

  it('through a link and beside it are still one after the other', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'real.json'), '{}');
    symlinkSync('real.json', join(dir, 'mcp.json'));
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        configEditor(join(dir, index % 2 ? 'real.json' : 'mcp.json')).setEntry(`s${index}`, { command: 'x' }),
      ),
    );
    expect(names(join(dir, 'real.json'))).toHaveLength(10);
  });
});
