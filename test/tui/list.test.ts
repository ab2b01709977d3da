import { describe, expect, it } from 'vitest';
import { blank, factOf, iso, key, letters, noon, play, screenOf, statusOf, withServers } from './given.ts';

const failing = statusOf('broken', {
  state: 'backing-off',
  tools: 0,
  error: { class: 'exit', message: 'initialize: the process exited with code 3', at: iso(0) },
  nextAttemptAt: iso(12_000),
});

describe('The list of servers', () => {
  it('shows state, transport, tools, since, the error and the next attempt, which counts down', () => {
    const { model } = play(withServers(failing, statusOf('notes')));
    expect(screenOf(model)).toMatch(/› broken +↻ backing-off +stdio +0 +1 m/);
    expect(screenOf(model)).toContain('next try in 12 s · exit: initialize: the process exited with code 3');
    const later = play(model, { kind: 'tick', at: noon + 5_000 }).model;
    expect(screenOf(later)).toContain('next try in 7 s');
  });

  it('moves with a fact at once, before the daemon is asked', () => {
    const { model, commands } = play(withServers(statusOf('notes')), {
      kind: 'fact',
      fact: factOf(9, 'SessionLost', 'session-lost'),
    });
    expect(screenOf(model)).toMatch(/notes +↻ session-lost/);
    expect(commands).toContainEqual({ do: 'load-servers' });
  });

  it('lets nothing of a server steer the terminal', () => {
    const evil = statusOf('notes', { error: { class: 'exit', message: 'a\u001b[2Jb\u0007\nc', at: iso(0) } });
    expect(screenOf(withServers(evil))).toContain('exit: ab c');
    expect(screenOf(withServers(evil))).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  it.each<[typed: string, names: string[]]>([
    ['bro', ['broken']],
    ['exited code', ['broken']],
    ['ready', ['notes']],
    ['nothing like it', []],
  ])('filters by name, state and error: /%s', (typed, names) => {
    const { model } = play(withServers(failing, statusOf('notes')), ...letters(`/${typed}`));
    for (const name of ['broken', 'notes']) {
      const row = new RegExp(`^. ${name} `, 'm');
      if (names.includes(name)) expect(screenOf(model)).toMatch(row);
      else expect(screenOf(model)).not.toMatch(row);
    }
  });

  it('keeps its choice by name when servers come and the order changes', () => {
    const chosen = play(withServers(statusOf('b'), statusOf('c')), key('down')).model;
    const more = play(chosen, { kind: 'servers', answer: { servers: [statusOf('a'), statusOf('b'), statusOf('c')] } });
    expect(screenOf(more.model)).toMatch(/› c /);
    const sorted = play(more.model, ...letters('s')).model;
    expect(screenOf(sorted)).toMatch(/STATE↓/);
    expect(screenOf(sorted)).toMatch(/› c /);
  });

  it.each<[string, object]>([
    ['r', { do: 'reconnect', name: 'notes' }],
    ['R', { do: 'reconnect', name: null }],
    ['x', { do: 'disable', name: 'notes' }],
    ['q', { do: 'leave' }],
  ])('%s asks for %o', (letter, command) => {
    expect(play(withServers(statusOf('notes')), ...letters(letter)).commands).toEqual([command]);
  });

  it('enables what is disabled with the same key', () => {
    const off = withServers(statusOf('notes', { state: 'disabled' }));
    expect(play(off, ...letters('x')).commands).toEqual([{ do: 'enable', name: 'notes' }]);
  });

  it.each<[string, number]>([
    ['y', 1],
    ['n', 0],
    ['\r', 0],
  ])('removes only after y: %j', (answer, count) => {
    const asked = play(withServers(statusOf('notes')), ...letters('d')).model;
    expect(screenOf(asked)).toContain('Remove notes?');
    const message = answer === '\r' ? [key('enter')] : letters(answer);
    expect(play(asked, ...message).commands).toHaveLength(count);
  });

  it('tells of a filter that is kept, and a new one or a command begins with nothing', () => {
    const two = withServers(statusOf('memory'), statusOf('notes'));
    const kept = play(two, ...letters('/mem'), key('enter')).model;
    expect(screenOf(kept)).toContain('Filter: mem (1 of 2), Esc shows all');
    const opened = play(kept, ...letters('/mcp notes'), key('enter')).model;
    expect(screenOf(opened)).toMatch(/notes {2}● ready/);
    expect(screenOf(play(kept, key('escape')).model)).not.toContain('Filter');
  });

  it('tells which of many servers are seen', () => {
    const many = withServers(
      ...Array.from({ length: 60 }, (_, index) => statusOf(`s${String(index).padStart(2, '0')}`)),
    );
    expect(screenOf(many)).toMatch(/ 1 to 18 of 60\n {2}SERVER↓/);
    expect(screenOf(play(many, key('end')).model)).toMatch(/ 43 to 60 of 60\n[\s\S]*› s59/);
    expect(screenOf(withServers(statusOf('notes')))).not.toContain(' of 1');
  });

  it('has an error beside its server where all of it fits, else below', () => {
    const [short, long] = ['no key', 'word '.repeat(18).trim()];
    const failed = (name: string, message: string) =>
      statusOf(name, { state: 'failed', error: { class: 'spawn', message, at: iso(0) } });
    const { model } = play(withServers(failed('a', short), failed('b', long)), {
      kind: 'size',
      columns: 140,
      rows: 45,
    });
    expect(screenOf(model)).toMatch(/a +✗ failed.*spawn: no key\n/);
    expect(screenOf(model)).toContain(`\n    spawn: ${long}\n`);
  });

  it('says in up to three lines what went wrong, so that the next step can be read', () => {
    const text = `${'It cannot be done, since something is not as it should be. '.repeat(2)}Then: watchkeeper status`;
    const { model } = play(withServers(statusOf('notes')), { kind: 'said', text, tone: 'bad' });
    expect(screenOf(model).replace(/\s+/g, ' ')).toContain(text);
    const endless = play(model, { kind: 'said', text: text.repeat(9), tone: 'bad' }).model;
    expect(screenOf(endless).split('\n')).toHaveLength(23);
    expect(screenOf(endless)).toContain('…');
  });

  it('says how to begin when there is no server', () => {
    expect(screenOf(withServers())).toContain('Press a to add one');
    expect(screenOf(blank())).toContain('being read');
  });
});

describe('/mcp', () => {
  it.each<[string, RegExp]>([
    ['/mcp add', /Add a server/],
    ['/mcp notes', /notes {2}● ready/],
    ['/mcp', /› notes/],
    ['/mcp nobody', /There is no server "nobody"/],
  ])('%s is understood', (line, shown) => {
    const { model } = play(withServers(statusOf('notes')), ...letters(line), key('enter'));
    expect(screenOf(model)).toMatch(shown);
  });

  it('opens a server that was named before the servers were known', () => {
    const waiting = play(blank(), { kind: 'typed', words: ['notes'] }).model;
    const { model } = play(waiting, { kind: 'servers', answer: { servers: [statusOf('notes')] } });
    expect(screenOf(model)).toMatch(/notes {2}● ready/);
  });
});

describe('The link to the daemon', () => {
  it('is told of when it is lost, and everything is read anew when it is back', () => {
    const lost = play(withServers(statusOf('notes')), { kind: 'link', up: false, at: noon }).model;
    expect(screenOf(lost)).toContain('The daemon does not answer');
    const { model, commands } = play(lost, { kind: 'link', up: true, at: noon + 1000 });
    expect(screenOf(model)).toContain('The daemon is back');
    expect(commands.map((command) => command.do)).toEqual(
      expect.arrayContaining(['load-servers', 'load-config', 'load-history', 'load-held']),
    );
  });
});
