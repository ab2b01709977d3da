import { describe, expect, it } from 'vitest';
import { GOES_ON } from '../../src/tui/line.ts';
import type { Message, Model } from '../../src/tui/model.ts';
import { factOf, iso, key, letters, noon, play, screenOf, statusOf, toolOf, withServers } from './given.ts';

const tools = [toolOf('notes', 'add'), toolOf('notes', 'erase')];

const opened = (entries: string[] = [], suspended: string[] = []) =>
  play(withServers(statusOf('notes')), key('enter'), {
    kind: 'tools',
    name: 'notes',
    at: null,
    tools,
    entries,
    suspended,
  }).model;

describe('The tools of a server', () => {
  it('are ticked one by one, all together, or with the whole server, and each of these is spelled differently', () => {
    const one = play(opened(), key('down'), key('down'), ...letters(' '), key('enter'));
    expect(one.commands).toEqual([{ do: 'grant', name: 'notes', entries: ['mcp__notes__add'] }]);
    const all = play(opened(), key('down'), ...letters(' '), key('enter'));
    expect(all.commands).toEqual([{ do: 'grant', name: 'notes', entries: ['mcp__notes__add', 'mcp__notes__erase'] }]);
    const whole = play(opened(), ...letters(' '), key('enter'));
    expect(whole.commands).toEqual([{ do: 'grant', name: 'notes', entries: ['mcp__notes__*'] }]);
  });

  it.each<[string, string[], RegExp]>([
    ['nothing', [], /\[ \] the whole server[\s\S]*\[ \] all 2 tools[\s\S]*\[ \] add/],
    ['one tool', ['mcp__notes__add'], /\[ \] the whole[\s\S]*\[-\] all 2 tools[\s\S]*\[x\] add[\s\S]*\[ \] erase/],
    ['every tool by name', ['mcp__notes__add', 'mcp__notes__erase'], /\[ \] the whole[\s\S]*\[x\] all 2 tools/],
    ['the whole server', ['mcp__notes__*'], /\[x\] the whole[\s\S]*\[\*\] all 2 tools[\s\S]*\[\*\] add/],
    ['a tool that is gone', ['mcp__notes__old'], /\[x\] mcp__notes__old +granted, and not among/],
  ])('show what is granted: %s', (_what, entries, shown) => {
    expect(screenOf(opened(entries))).toMatch(shown);
  });

  it('renew a suspended grant only when a person ticks it', () => {
    const model = opened(['mcp__notes__add', 'mcp__notes__erase'], ['mcp__notes__erase']);
    expect(screenOf(model)).toMatch(/\[ \] erase +suspended/);
    const saved = play(model, key('home'), ...letters(' '), ...letters(' '), key('enter'));
    expect(saved.commands).toEqual([]);
    const renewed = play(model, key('end'), ...letters(' '), key('enter'));
    expect(renewed.commands).toMatchObject([{ entries: ['mcp__notes__add', 'mcp__notes__erase'] }]);
  });

  it('keep what is ticked and not yet saved when the list comes anew', () => {
    const ticked = play(opened(), key('end'), ...letters(' ')).model;
    const { model } = play(ticked, { kind: 'tools', name: 'notes', at: null, tools, entries: [], suspended: [] });
    expect(screenOf(model)).toMatch(/Not saved yet[\s\S]*\[x\] erase/);
  });
});

describe('Time travel', () => {
  const facts = [
    factOf(1, 'ServerConfigured', 'stopped'),
    factOf(2, 'ConnectStarted', 'connecting'),
    factOf(3, 'ConnectFailed', 'backing-off', {
      failure: { class: 'exit', message: 'exit 1', stderrTail: 'no \u001b[31mkey' },
    }),
    factOf(4, 'ToolsListed', 'ready', { count: 2 }),
  ];
  const timeline = play(opened(), ...letters('2'), { kind: 'facts', name: 'notes', facts }).model;

  it('goes back fact by fact, and asks for everything as it was then', () => {
    const { model, commands } = play(timeline, key('left'));
    expect(commands).toEqual([
      { do: 'load-as-of', name: 'notes', at: 3 },
      { do: 'load-why', name: 'notes', at: 3 },
      { do: 'load-tools', name: 'notes', at: 3 },
    ]);
    const then = statusOf('notes', { state: 'backing-off', since: iso(3_000) });
    const shown = play(model, { kind: 'as-of', name: 'notes', at: 3, status: then }).model;
    expect(screenOf(shown)).toMatch(/↻ backing-off for 0 s[\s\S]*AS OF[\s\S]*fact 3[\s\S]*› +3 /);
  });

  it('drops answers about a moment that was left', () => {
    const left = play(timeline, key('left'), key('left')).model;
    const { model } = play(left, {
      kind: 'as-of',
      name: 'notes',
      at: 3,
      status: statusOf('notes', { state: 'failed' }),
    });
    expect(model.server?.asOf).toBeNull();
  });

  it('comes back to now with Esc, with End, and behind the newest fact', () => {
    for (const back of [[key('escape')], [key('end')], [key('right'), key('right')]]) {
      expect(play(timeline, key('left'), ...back).model.server?.at).toBeNull();
    }
  });

  it('stays where it is while facts come', () => {
    const { model } = play(timeline, key('left'), { kind: 'fact', fact: factOf(5, 'SessionLost', 'session-lost') });
    expect(model.server).toMatchObject({ at: 3 });
    expect(screenOf(model)).toContain('2 later facts');
  });

  it('shows the last words of that time, harmless', () => {
    expect(screenOf(play(timeline, ...letters('3')).model)).toMatch(/fact 3[\s\S]*│ no key/);
    const before = play(timeline, key('home'), ...letters('3')).model;
    expect(screenOf(before)).toContain('No last words are known of that time');
  });

  it('grants nothing in the past', () => {
    const past = play(
      timeline,
      key('left'),
      { kind: 'tools', name: 'notes', at: 3, tools, entries: [], suspended: [] },
      ...letters('1'),
    );
    const { model, commands } = play(past.model, ...letters(' '), key('enter'));
    expect(commands).toEqual([]);
    expect(screenOf(model)).toContain('This is the past');
  });
});

describe('What a process writes', () => {
  const stderrOf = (text: string, more = {}): Message => ({
    kind: 'stderr',
    name: 'notes',
    stderr: { name: 'notes', pid: 7, text, missing: null, ...more },
  });
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}\n`).join('');
  const tab = play(opened(), ...letters('3'));

  it('is asked for when the tab is opened, and again while it is read', () => {
    expect(tab.commands).toEqual([{ do: 'load-stderr', name: 'notes' }]);
    const tick = (model: Model) => play(model, { kind: 'tick', at: noon + 1_000 }).commands;
    expect(tick(tab.model)).toEqual([{ do: 'load-stderr', name: 'notes' }]);
    expect(tick(play(tab.model, ...letters('1')).model)).toEqual([]);
    expect(tick(play(tab.model, { kind: 'link', up: false, at: noon }).model)).toEqual([]);
  });

  it('is followed to its end, unless somebody scrolled back', () => {
    const long = play(tab.model, stderrOf(`\u001b[31m${lines(90)}`)).model;
    expect(screenOf(long)).toContain('│ line 89');
    const more = play(long, stderrOf(lines(120))).model;
    expect(screenOf(more)).toContain('│ line 119');
    const back = play(more, key('up'), key('up'), key('up')).model;
    expect(screenOf(back)).not.toContain('line 119');
    expect(screenOf(play(back, stderrOf(lines(150))).model)).not.toContain('line 149');
    expect(screenOf(play(back, stderrOf(lines(150)), key('end')).model)).toContain('│ line 149');
  });

  it.each<[string, object, RegExp]>([
    ['nothing yet', { text: '' }, /Its process \(pid 7\) has written nothing/],
    ['no process', { text: '', pid: null, missing: 'not-running' }, /No process of it runs now/],
    ['a server elsewhere', { text: '', pid: null, missing: 'no-process' }, /has no stderr/],
  ])('is told in words where there is none: %s', (_what, more, shown) => {
    expect(screenOf(play(tab.model, stderrOf('', more)).model)).toMatch(shown);
  });

  it('stands below what one wrote before it failed', () => {
    const failed = factOf(3, 'ConnectFailed', 'backing-off', {
      failure: { class: 'exit', message: 'x', stderrTail: 'no key' },
    });
    const { model } = play(tab.model, { kind: 'facts', name: 'notes', facts: [failed] }, stderrOf('all well\n'));
    expect(screenOf(model)).toMatch(/ConnectFailed[\s\S]*│ no key[\s\S]*pid 7[\s\S]*│ all well/);
  });
});

describe('The tabs', () => {
  it('are those the server has: no login where there is nothing to log in to', () => {
    const pressed = play(opened(), ...letters('6')).model;
    expect(pressed.server?.tab).toBe('tools');
    expect(screenOf(pressed)).toContain('It needs no login');
    const around = play(opened(), ...Array.from({ length: 5 }, () => key('tab'))).model;
    expect(around.server?.tab).toBe('tools');
  });

  it('show the entry of now also while the past is looked at, and say so', () => {
    const facts = [factOf(1, 'ServerConfigured', 'stopped'), factOf(2, 'ConnectStarted', 'connecting')];
    const past = play(
      opened(),
      { kind: 'config', answer: { servers: { notes: { command: 'x' } }, oauth: {} } },
      { kind: 'facts', name: 'notes', facts },
      key('left'),
      ...letters('5'),
    ).model;
    expect(screenOf(past)).toMatch(/as it is now, not as it was then/);
  });
});

describe('A login', () => {
  const web = play(withServers(statusOf('web', { state: 'auth-required' })), {
    kind: 'config',
    answer: {
      servers: { web: { url: 'https://a/mcp', auth: 'oauth' } },
      oauth: { web: false },
      redirect_uri: 'http://localhost:4321/callback',
    },
  }).model;
  const login = play(web, key('enter'), ...letters('6l'));

  it('begins with l, and o and c mean something while nothing is typed', () => {
    expect(login.commands).toEqual([{ do: 'log-in', name: 'web' }]);
    const url = `https://as.example/authorize?${'x'.repeat(200)}`;
    const { model } = play(login.model, { kind: 'login-url', name: 'web', url });
    expect(screenOf(model).replaceAll(`${GOES_ON}\n`, '').split('\n')).toContain(url);
    expect(play(model, ...letters('o')).commands).toEqual([{ do: 'open', url }]);
    expect(play(model, ...letters('c')).commands).toEqual([{ do: 'copy', text: url }]);
    expect(play(model, ...letters('http://localhost/co')).commands).toEqual([]);
  });

  it('takes a pasted address even before its own is known, and keeps it', () => {
    const pasted = play(login.model, {
      kind: 'input',
      input: { paste: 'http://localhost:1/cb?code=1\n' },
      at: 0,
    }).model;
    const { model } = play(pasted, { kind: 'login-url', name: 'web', url: 'https://a' });
    expect(play(model, key('enter')).commands).toEqual([
      { do: 'paste-callback', name: 'web', url: 'http://localhost:1/cb?code=1' },
    ]);
  });

  it('shows its field and what went wrong on a low screen too, and forgets an address that was refused', () => {
    const url = `https://as.example/authorize?${'x'.repeat(300)}`;
    const wrong = 'The address belongs to another login (`state`); the one that waits goes on waiting.';
    const { model } = play(
      login.model,
      { kind: 'size', columns: 60, rows: 18 },
      { kind: 'login-url', name: 'web', url },
      { kind: 'input', input: { paste: 'http://localhost:1/cb?code=1' }, at: 0 },
      { kind: 'said', text: wrong, tone: 'bad' },
    );
    const shown = screenOf(model).replaceAll(`${GOES_ON}\n`, '');
    expect(shown).toContain(url);
    expect(shown).toMatch(/ › *\n/);
    expect(shown.replace(/\s+/g, ' ')).toContain(wrong);
    expect(play(model, ...letters('o')).commands).toEqual([{ do: 'open', url }]);
  });

  it('takes a client, its secret hidden and the usual redirect URI filled in', () => {
    const form = play(web, key('enter'), ...letters('6c'), ...letters('my-id'), key('tab'), ...letters('hush')).model;
    expect(screenOf(form)).toMatch(/my-id[\s\S]*••••[\s\S]*http:\/\/localhost:4321\/callback/);
    expect(screenOf(form)).not.toContain('hush');
    expect(play(form, key('enter'), key('enter')).commands).toEqual([
      { do: 'give-client', name: 'web', id: 'my-id', secret: 'hush', redirect: 'http://localhost:4321/callback' },
    ]);
  });
});
