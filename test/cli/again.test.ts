import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { placesIn, programFor, withPlaces } from '../../src/cli/again.ts';
import { type Fake, fakeDaemon, problem } from './fake.daemon.ts';
import { serverStatus } from './shapes.ts';

const places = { data: '/my data', config: 'a/mcp.json' };

describe('A command to type next', () => {
  it.each([
    [{ data: undefined, config: undefined }, 'watchkeeper'],
    [{ data: '/d', config: undefined }, 'watchkeeper --data /d'],
    [places, "watchkeeper --data '/my data' --config a/mcp.json"],
    [{ data: "it's", config: undefined }, "watchkeeper --data 'it'\\''s'"],
  ])('for %j begins with the places that were given', (given, program) => {
    expect(programFor(given)).toBe(program);
  });

  it.each([
    ['watchkeeper status', 'watchkeeper --data /d status'],
    [
      'Log in: watchkeeper login web; then watchkeeper status',
      'Log in: watchkeeper --data /d login web; then watchkeeper --data /d status',
    ],
    ['watchkeeper add a -- b --data x', 'watchkeeper --data /d add a -- b --data x'],
    ['watchkeeper up --data <directory>', 'watchkeeper up --data <directory>'],
    ['watchkeeper down && watchkeeper up --data x', 'watchkeeper --data /d down && watchkeeper up --data x'],
    ['watchkeeper --help', 'watchkeeper --help'],
    ['watchkeeper version', 'watchkeeper version'],
    ['watchkeeper was stopped', 'watchkeeper was stopped'],
    ['/x/watchkeeper.env', '/x/watchkeeper.env'],
  ])('is found in %j', (text, expected) => {
    expect(withPlaces(text, { data: '/d', config: undefined })).toBe(expected);
  });

  it.each([
    [['statsu', '--data', '/d'], { data: '/d', config: undefined }],
    [['--config=/c', 'statsu'], { data: undefined, config: '/c' }],
    [['add', 'x', '--', '--data', '/d'], { data: undefined, config: undefined }],
    [['status', '--data', '--nonsense'], { data: undefined, config: undefined }],
  ])('for %j, which cannot be read, knows the places too', (argv, expected) => {
    expect(placesIn(argv)).toEqual(expected);
  });
});

describe('Whoever says where the data are', () => {
  let fake: Fake;
  beforeEach(async () => {
    fake = await fakeDaemon({ 'GET /v1/mcp/status': { servers: [serverStatus('memory')] } });
  });
  afterEach(() => fake.close());
  const env = { WATCHKEEPER_DATA: '', WATCHKEEPER_CONFIG: '' };
  const run = (line: string) => fake.run(`${line} --data ${fake.folder} --config ${fake.configFile}`, { env });
  const program = () => `watchkeeper --data ${fake.folder} --config ${fake.configFile}`;

  it('is told so again by the error of a command, as text and as JSON', async () => {
    expect((await run('status memry')).err).toContain(`  ${program()} status memory\n`);
    expect(JSON.parse((await run('status memry --json')).err).next).toEqual([`${program()} status memory`]);
  });

  it('by the error of a command line that cannot be read', async () => {
    expect((await run('statsu')).err).toContain(`  ${program()} status\n`);
    expect((await run('status --nonsense')).err).toContain(`  ${program()} status --help\n`);
  });

  it('by an error of the daemon and by one about a daemon that is not there', async () => {
    fake.routes['POST /v1/mcp/enable'] = problem(409, 'conflict', 'It waits; see `watchkeeper status`.');
    expect((await run('enable memory')).err).toContain(`  ${program()} status\n`);
    const alone = await fakeDaemon({}, { running: false });
    const { err } = await alone.run(`status --data ${alone.folder}`, { env });
    expect(err).toContain(`"watchkeeper --data ${alone.folder} up"`);
    expect(err).toContain(`  watchkeeper --data ${alone.folder} up --detach\n`);
    await alone.close();
  });

  it('by hints', async () => {
    fake.routes['GET /v1/mcp/status'] = { servers: [] };
    expect((await run('status')).err).toContain(`Add one: ${program()} add <name>`);
  });

  it('and whoever does not is not', async () => {
    expect((await fake.run('status memry')).err).toContain('  watchkeeper status memory\n');
  });
});
