import { describe, expect, it } from 'vitest';
import { longestSocketPath, type Machine, resolvePaths, socketAddress } from '../../src/config/paths.ts';

const linux: Machine = {
  platform: 'linux',
  home: '/home/u',
  cwd: '/here',
  temp: '/tmp',
  uid: 1000,
  exists: () => false,
};
const windows: Machine = {
  ...linux,
  platform: 'win32',
  home: 'C:\\Users\\u',
  cwd: 'C:\\here',
  temp: 'C:\\Temp',
  uid: undefined,
};
const having = (...files: string[]): Machine => ({ ...linux, exists: (file) => files.includes(file) });

const usual = '/home/u/.config/agenvoy/mcp.json';
const xdg = '/xdg/agenvoy/mcp.json';

describe('the config file', () => {
  it.each<[string, { config?: string }, Record<string, string>, Machine, string]>([
    ['is the usual one', {}, {}, linux, usual],
    ['is the XDG one', {}, { XDG_CONFIG_HOME: '/xdg' }, linux, xdg],
    ['is the XDG one when both exist', {}, { XDG_CONFIG_HOME: '/xdg' }, having(usual, xdg), xdg],
    ['is the usual one when only that exists', {}, { XDG_CONFIG_HOME: '/xdg' }, having(usual), usual],
    ['is the usual one when the XDG path is relative', {}, { XDG_CONFIG_HOME: 'xdg' }, linux, usual],
    ['is the usual one when the XDG path is empty', {}, { XDG_CONFIG_HOME: '' }, linux, usual],
    [
      'is the one of the environment',
      {},
      { WATCHKEEPER_CONFIG: '/e/m.json', XDG_CONFIG_HOME: '/xdg' },
      linux,
      '/e/m.json',
    ],
    ['is the one of the flag', { config: '/f/m.json' }, { WATCHKEEPER_CONFIG: '/e/m.json' }, linux, '/f/m.json'],
    ['is relative to the working directory', { config: 'm.json' }, {}, linux, '/here/m.json'],
    [
      'is under the profile on Windows',
      {},
      { USERPROFILE: 'D:\\u', XDG_CONFIG_HOME: '/xdg' },
      windows,
      'D:\\u\\.config\\agenvoy\\mcp.json',
    ],
    ['is under the home on Windows', {}, {}, windows, 'C:\\Users\\u\\.config\\agenvoy\\mcp.json'],
  ])('%s', (_what, flags, env, machine, expected) => {
    expect(resolvePaths(flags, env, machine).configFile).toBe(expected);
  });

  it('tells whether somebody chose it', () => {
    expect(resolvePaths({}, { XDG_CONFIG_HOME: '/xdg' }, linux).configOrigin).toBe('own');
    expect(resolvePaths({ config: 'm.json' }, {}, linux).configOrigin).toBe('chosen');
    expect(resolvePaths({}, { WATCHKEEPER_CONFIG: 'm.json' }, linux).configOrigin).toBe('chosen');
  });

  it('has its companions beside it', () => {
    expect(resolvePaths({ config: '/f/other.json' }, {}, linux)).toMatchObject({
      allowFile: '/f/allow_tool',
      settingsFile: '/f/watchkeeper.json',
      variablesFile: '/f/watchkeeper.env',
    });
  });
});

describe('the data directory', () => {
  it.each<[string, { data?: string }, Record<string, string>, Machine, string]>([
    ['is the usual one', {}, {}, linux, '/home/u/.local/share/watchkeeper'],
    ['is the XDG one', {}, { XDG_DATA_HOME: '/x' }, linux, '/x/watchkeeper'],
    ['is the one of the environment', {}, { WATCHKEEPER_DATA: 'd', XDG_DATA_HOME: '/x' }, linux, '/here/d'],
    ['is the one of the flag', { data: '/f' }, { WATCHKEEPER_DATA: '/d' }, linux, '/f'],
    ['is local on Windows', {}, { LOCALAPPDATA: 'D:\\l' }, windows, 'D:\\l\\watchkeeper'],
    ['is under the home on Windows', {}, {}, windows, 'C:\\Users\\u\\AppData\\Local\\watchkeeper'],
  ])('%s', (_what, flags, env, machine, expected) => {
    expect(resolvePaths(flags, env, machine).dataDir).toBe(expected);
  });

  it('holds what the contract names', () => {
    expect(resolvePaths({ data: '/d' }, {}, linux)).toMatchObject({
      databaseFile: '/d/watchkeeper.db',
      tokenFile: '/d/token',
      daemonFile: '/d/daemon.json',
      recordingsDir: '/d/recordings',
      socket: { path: '/d/daemon.sock', directory: null },
    });
  });
});

describe('the socket', () => {
  const dataDir = (bytes: number): string => `/${'x'.repeat(bytes - '//daemon.sock'.length)}`;

  it('stays in the data directory up to 103 bytes', () => {
    expect(socketAddress(dataDir(103), {}, linux)).toEqual({ path: `${dataDir(103)}/daemon.sock`, directory: null });
    expect(Buffer.byteLength(socketAddress(dataDir(103), {}, linux).path)).toBe(103);
  });

  it('moves under XDG_RUNTIME_DIR or the temp folder above that', () => {
    expect(socketAddress(dataDir(104), { XDG_RUNTIME_DIR: '/run/user/1000' }, linux)).toEqual({
      path: expect.stringMatching(/^\/run\/user\/1000\/watchkeeper-1000\/[0-9a-f]{16}\.sock$/),
      directory: '/run/user/1000/watchkeeper-1000',
    });
    expect(socketAddress(dataDir(104), {}, linux).directory).toBe('/tmp/watchkeeper-1000');
  });

  it('counts bytes, not characters', () => {
    expect(socketAddress(`/${'ä'.repeat(50)}`, {}, linux).directory).toBe('/tmp/watchkeeper-1000');
  });

  it('passes over folders whose own path is too long', () => {
    const { path } = socketAddress(
      dataDir(200),
      { XDG_RUNTIME_DIR: `/${'r'.repeat(90)}` },
      { ...linux, temp: `/${'t'.repeat(90)}` },
    );
    expect(path).toMatch(/^\/tmp\/watchkeeper-1000\//);
    expect(Buffer.byteLength(path)).toBeLessThanOrEqual(longestSocketPath);
  });

  it('is another one for another data directory', () => {
    expect(socketAddress(dataDir(104), {}, linux).path).not.toBe(socketAddress(dataDir(105), {}, linux).path);
  });

  it('is a named pipe on Windows', () => {
    expect(socketAddress('C:\\d', {}, windows)).toEqual({
      path: expect.stringMatching(/^\\\\\.\\pipe\\watchkeeper-[0-9a-f]{16}$/),
      directory: null,
    });
  });
});
