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
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClientDescriptor } from '../../src/clients/descriptor.ts';
import { knownClients } from '../../src/clients/known.ts';
import { configFileOf } from '../../src/clients/places.ts';
import { brokenFiles, filesOfPeople } from '../clients/files.of.people.ts';
import { type Fake, fakeDaemon } from './fake.daemon.ts';

const server = (name: string) => ({
  name,
  state: 'ready',
  tool_prefix: '',
  tools: { count: 3, longest: 5, stale: false },
});
const health = (...names: string[]) => ({
  status: 'ok',
  version: '0',
  ready: true,
  mount_mode: 'per-server',
  routed_path: '/mcp',
  servers: names.map(server),
});

let fake: Fake;
beforeEach(async () => {
  fake = await fakeDaemon({ 'GET /health': health('a', 'b') });
});
afterEach(() => fake.close());

const fileOf = (client: ClientDescriptor): string =>
  configFileOf(client, { platform: process.platform, home: fake.folder, env: {}, exists: existsSync });
const beside = (file: string): string[] =>
  readdirSync(dirname(file)).filter((name) => name !== basename(file) && name.includes(basename(file)));
const mode = (file: string): number => statSync(file).mode & 0o7777;
const well = async (line: string): Promise<void> => {
  const { exit, err } = await fake.run(line);
  expect([exit, err.replace(/^warning: .*\n/gm, '')], line).toEqual([0, expect.not.stringMatching(/error/i)]);
};

/** Connects, connects again, lets a server go and come, syncs, and disconnects. Returns every text the file had. */
async function through(id: string, file: string, flags = ''): Promise<string[]> {
  const texts: string[] = [];
  const step = async (line: string): Promise<string> => {
    await well(line);
    texts.push(readFileSync(file, 'utf8'));
    return texts.at(-1) ?? '';
  };
  const connected = await step(`connect ${id}${flags}`);
  for (const line of [`connect ${id}${flags}`, 'sync']) expect(await step(line), line).toBe(connected);
  fake.routes['GET /health'] = health('b');
  const one = await step('sync');
  expect(one).not.toBe(connected);
  expect(await step('sync')).toBe(one);
  fake.routes['GET /health'] = health('a', 'b');
  const two = await step('sync');
  expect(await step('sync')).toBe(two);
  expect(await step('clients')).toBe(two);
  await well(`disconnect ${id}`);
  return texts;
}

const all = knownClients.flatMap((client) =>
  Object.entries(filesOfPeople(client.format, client.key)).map(([what, text]) => ({
    client,
    id: client.id,
    what,
    text,
  })),
);

describe('The file of a client', () => {
  it.each(all)('is given back byte for byte: $id, $what', async ({ client, text }) => {
    const file = fileOf(client);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, 0o644);
    await through(client.id, file);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(mode(file)).toBe(0o644);
    // Nothing is left beside it but one copy of before.
    expect(beside(file)).toEqual([expect.stringMatching(/\.bak\.\d{8}-\d{6}$/)]);
  });

  it.each(knownClients)('that was not there is gone again, and its folder too is made: $id', async (client) => {
    const file = fileOf(client);
    expect(existsSync(file)).toBe(false);
    await through(client.id, file);
    expect(existsSync(file)).toBe(false);
  });

  it.each(knownClients)('with comments and lines of people keeps all of them while connected: $id', async (client) => {
    const file = fileOf(client);
    mkdirSync(dirname(file), { recursive: true });
    const [text = ''] = Object.values(filesOfPeople(client.format, client.key)).slice(2);
    writeFileSync(file, text);
    const plain = (one: string): string[] => one.split(/\r?\n/).map((line) => line.replace(/,\s*$/, '').trim());
    for (const written of await through(client.id, file)) {
      const lines = plain(written);
      expect(plain(text).filter((line) => line !== '' && !/[{}]$/.test(line) && !lines.includes(line))).toEqual([]);
    }
  });

  const broken = knownClients.flatMap(({ id, format, key }) =>
    brokenFiles(format, key).map((text) => ({ id, text, client: id })),
  );
  it.each(broken)('that cannot be read is refused with its name and left alone: $id, $text', async ({ id, text }) => {
    const client = knownClients.find((one) => one.id === id) as ClientDescriptor;
    const file = fileOf(client);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    for (const line of [`connect ${id}`, `connect ${id} --dry-run`]) {
      const { exit, err } = await fake.run(line);
      expect([exit, err]).toEqual([1, expect.stringContaining(file)]);
    }
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(beside(file)).toEqual([]);
  });

  const disks: [what: string, mode: number, id: string][] = [0o400, 0o600, 0o640, 0o664, 0o444].flatMap((bits) =>
    ['claude-desktop', 'zed', 'codex', 'goose', 'vscode'].map((id): [string, number, string] => [
      `0${bits.toString(8)}`,
      bits,
      id,
    ]),
  );
  it.each(disks)('of mode %s has that mode again in the end', async (_what, bits, id) => {
    const client = knownClients.find((one) => one.id === id) as ClientDescriptor;
    const file = fileOf(client);
    const text = Object.values(filesOfPeople(client.format, client.key))[2] ?? '';
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, bits);
    await through(id, file);
    expect([readFileSync(file, 'utf8'), mode(file)]).toEqual([text, bits]);
  });

  it.each(['claude-code', 'zed', 'codex', 'goose'])('that is a link stays one: %s', async (id) => {
    const client = knownClients.find((one) => one.id === id) as ClientDescriptor;
    const file = fileOf(client);
    const real = join(fake.folder, 'dotfiles', 'config');
    const text = Object.values(filesOfPeople(client.format, client.key))[2] ?? '';
    mkdirSync(dirname(file), { recursive: true });
    mkdirSync(dirname(real), { recursive: true });
    writeFileSync(real, text);
    symlinkSync(real, file);
    await through(id, file);
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, 'utf8')).toBe(text);
  });

  it.each([' --mode stdio', ' --token file', ' --name hub', ' --mode stdio --name hub'])(
    'is given back whatever was written into it:%s',
    async (flags) => {
      for (const client of knownClients) {
        const file = fileOf(client);
        const text = Object.values(filesOfPeople(client.format, client.key))[2] ?? '';
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
        await through(client.id, file, flags);
        expect(readFileSync(file, 'utf8'), client.id).toBe(text);
      }
    },
    30_000,
  );
});
