import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settingNames, settingsJsonSchema } from '../../src/config/settings.schema.ts';
import { loadSettings, variablesFor } from '../../src/config/settings.ts';
import { projectRoot } from '../support/paths.ts';

const defaults = {
  mount_mode: 'per-server',
  naming: { maxLength: 64 },
  approval: { windowMs: 50_000, holdMs: 600_000 },
  http: { host: '127.0.0.1', port: 17_987, allowedHosts: [] },
  mcp: { sessionIdleMs: 1_800_000, maxSessions: 2_000 },
  oauth: { callbackPort: 17_988, loginMs: 600_000, store: 'auto' },
  log: { durability: 'process', level: 'info' },
  self: false,
  start: { parallel: 4 },
  recording: { maxBytes: 67_108_864, maxMessageBytes: 4_194_304 },
};

describe('settings', () => {
  it('have the defaults of the contract', () => {
    expect(loadSettings()).toEqual({ settings: defaults, warnings: [], problems: [], sources: {} });
    for (const text of ['', '{}', '\uFEFF// none\n{}', null]) expect(loadSettings({ text }).settings).toEqual(defaults);
  });

  it('come from the file, nested, with comments and trailing commas', () => {
    const text =
      '{ // mine\n"$schema": "x", "mount_mode": "routed", "naming": {"maxLength": 0,}, "http": {"allowedHosts": ["box"]},}';
    expect(loadSettings({ text })).toEqual({
      settings: {
        ...defaults,
        mount_mode: 'routed',
        naming: { maxLength: 0 },
        http: { ...defaults.http, allowedHosts: ['box'] },
      },
      warnings: [],
      problems: [],
      sources: { mount_mode: 'file', 'naming.maxLength': 'file', 'http.allowedHosts': 'file' },
    });
  });

  it('from flags win over the environment, and that over the file', () => {
    const text = '{"http":{"port":1},"log":{"level":"warn"},"start":{"parallel":2}}';
    const env = { WATCHKEEPER_PORT: '2', WATCHKEEPER_LOG_LEVEL: 'debug' };
    const { settings, sources } = loadSettings({ text, env, flags: { 'http.port': '3' } });
    expect([settings.http.port, settings.log.level, settings.start.parallel]).toEqual([3, 'debug', 2]);
    expect(sources).toEqual({ 'http.port': 'flag', 'log.level': 'environment', 'start.parallel': 'file' });
  });

  it.each([
    ['mount_mode', ['WATCHKEEPER_MOUNT_MODE']],
    ['naming.maxLength', ['WATCHKEEPER_NAMING_MAX_LENGTH']],
    ['approval.windowMs', ['WATCHKEEPER_APPROVAL_WINDOW_MS']],
    ['http.port', ['WATCHKEEPER_PORT', 'WATCHKEEPER_HTTP_PORT']],
    ['http.allowedHosts', ['WATCHKEEPER_HTTP_ALLOWED_HOSTS']],
    ['mcp.sessionIdleMs', ['WATCHKEEPER_MCP_SESSION_IDLE_MS']],
    ['oauth.callbackPort', ['WATCHKEEPER_OAUTH_CALLBACK_PORT']],
  ] as const)('%s can be set by %j', (name, variables) => {
    expect(variablesFor(name)).toEqual(variables);
  });

  it.each([
    ['true', true],
    ['1', true],
    ['False', false],
    ['0', false],
  ])('read the truth value %s from the environment', (word, value) => {
    expect(loadSettings({ text: '{"self": true}', env: { WATCHKEEPER_SELF: word } }).settings.self).toBe(value);
  });

  it('take no other word for a truth value', () => {
    const { settings, problems } = loadSettings({ env: { WATCHKEEPER_SELF: 'maybe' } });
    expect(settings.self).toBe(false);
    expect(problems).toEqual([
      { source: 'environment', setting: 'self', message: 'WATCHKEEPER_SELF must be true or false' },
    ]);
  });

  it('read numbers and lists from the environment, and take an empty variable for unset', () => {
    const env = { WATCHKEEPER_HTTP_ALLOWED_HOSTS: 'a, b:1 ,', WATCHKEEPER_START_PARALLEL: '9', WATCHKEEPER_PORT: '' };
    const { settings, problems } = loadSettings({ env });
    expect([settings.http.allowedHosts, settings.start.parallel, settings.http.port]).toEqual([
      ['a', 'b:1'],
      9,
      17_987,
    ]);
    expect(problems).toEqual([]);
  });

  it.each([
    ['{"http":{"port":70000}}', 'http.port', /http\.port must be a port/],
    ['{"http":{"port":"80"}}', null, null],
    ['{"http":{"port":"eighty"}}', 'http.port', /http\.port must be a port/],
    ['{"oauth":{"callbackPort":0}}', 'oauth.callbackPort', /1 to 65535/],
    ['{"mount_mode":"both"}', 'mount_mode', /`per-server`, `routed`/],
    ['{"naming":{"maxLength":5}}', 'naming.maxLength', /16 to 1024/],
    ['{"approval":{"holdMs":2147483648}}', 'approval.holdMs', /2147483647/],
    ['{"mcp":{"sessionIdleMs":99}}', 'mcp.sessionIdleMs', /from 100 to/],
    ['{"mcp":{"maxSessions":0}}', 'mcp.maxSessions', /1 to 100000/],
    ['{"http":{"allowedHosts":"*"}}', 'http.allowedHosts', /list of host names/],
    ['{"http":{"allowedHosts":["*"]}}', 'http.allowedHosts', /list of host names/],
    ['{"log":{"durability":"disk"}}', 'log.durability', /`process`, `power`/],
    ['{"http":[]}', null, /http must be an object/],
    ['{"http":', null, /line 1, column/],
    ['[]', null, /must hold an object/],
  ])('of the file %s keep the default where they are wrong', (text, setting, message) => {
    const { settings, problems } = loadSettings({ text: text.replace('"80"', '80') });
    if (message === null) return expect(problems).toEqual([]);
    expect(settings).toEqual(defaults);
    expect(problems).toEqual([{ source: 'file', setting, message: expect.stringMatching(message) }]);
  });

  it('that are wrong in one source come from the next', () => {
    const { settings, problems } = loadSettings({
      text: '{"http":{"port":5}}',
      env: { WATCHKEEPER_PORT: '-1' },
      flags: { 'http.port': 'x' },
    });
    expect(settings.http.port).toBe(5);
    expect(problems.map(({ source, message }) => [source, message.split(' ')[0]])).toEqual([
      ['flag', 'http.port'],
      ['environment', 'WATCHKEEPER_PORT'],
    ]);
  });

  it.each([
    ['{"namin":{}}', 'the key `namin` is not known and is ignored'],
    [
      '{"naming":{"maxlength":1}}',
      'the key `naming.maxlength` is not known and is ignored; did you mean `naming.maxLength`?',
    ],
    ['{"naming.maxLength":32}', 'the key `naming.maxLength` is ignored; write it nested: {"naming": {"maxLength": …}}'],
    ['{"log":{"level":"info","level":"warn"}}', 'the key `log.level` is written more than once; the last one counts'],
    ['{"__proto__":{"x":1}}', 'the key `__proto__` is not known and is ignored'],
  ])('warn of %s', (text, warning) => {
    expect(loadSettings({ text })).toMatchObject({ warnings: [warning], problems: [] });
  });
});

describe('the published schema', () => {
  const file = join(projectRoot, 'schema/watchkeeper.schema.json');

  /** UPDATE_SCHEMA=1 writes the file anew. */
  it('is what the settings are read with', () => {
    if (process.env.UPDATE_SCHEMA) writeFileSync(file, `${JSON.stringify(settingsJsonSchema(), null, 2)}\n`);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(settingsJsonSchema())));
  });

  it('describes every setting and gives its default', () => {
    const schema = JSON.parse(readFileSync(file, 'utf8'));
    for (const name of settingNames) {
      const found = name.split('.').reduce((at, key) => at.properties[key], schema);
      expect(found).toMatchObject({ description: expect.any(String), default: expect.anything() });
    }
  });
});
