import { describe, expect, it } from 'vitest';
import { callOf, input, key, letters, noon, play, screenOf, statusOf, withServers } from './given.ts';

const later = noon + 5_000;
const held = (...ids: string[]) =>
  play(withServers(statusOf('notes')), { kind: 'held', calls: ids.map((id) => callOf(id)) });

describe('A call that waits', () => {
  it('appears over any screen with a bell, its arguments readable', () => {
    const { model, commands } = held('c1');
    expect(commands).toEqual([{ do: 'ring' }]);
    const shown = screenOf(play(model, { kind: 'tick', at: later }).model);
    expect(shown).toMatch(/erase of notes asked by claude, expires in 9 m/);
    expect(shown).toMatch(/path: \/tmp\/a\n {2}lines:\n {4}one\n {4}two/);
  });

  it('says what its server says of the tool, in three lines at most, and what is unusual', () => {
    const call = callOf('c1', {
      description: `Erases\u001b[2J ${'a file '.repeat(60)}`,
      unusual: ['Never called before.'],
    });
    const { model } = play(withServers(statusOf('notes')), { kind: 'held', calls: [call] });
    const shown = screenOf(model);
    expect(shown).toMatch(/ Its server says of it: Erases a file[\s\S]*…\n ! Never called before\.\n {2}path: /);
    expect(shown.split('\n').filter((line) => /a file a file/.test(line))).toHaveLength(3);
  });

  it('hides nothing of what would run: characters that are not to be seen are written out, and that is said', () => {
    const call = callOf('c1', {
      tool: 'era\u200bse',
      arguments: {
        'pa\u202eth': 'ls\u001b[2K\rrm -rf \u{e0041}/',
        more: { deep: ['a\u2066b'] },
        text: 'ok ❤\ufe0f 👩\u200d👧',
      },
    });
    const shown = screenOf(play(withServers(statusOf('notes')), { kind: 'held', calls: [call] }).model);
    expect(shown).toContain('era\\u200bse of notes');
    expect(shown).toContain('pa\\u202eth: ls\\u001b[2K\\u000drm -rf \\udb40\\udc41/');
    expect(shown).toContain('a\\u2066b');
    expect(shown).toContain('! The arguments hold characters that are not to be seen');
    expect(screenOf(held('c1').model)).not.toContain('not to be seen');
  });

  it.each([
    [40, 12],
    [60, 18],
    [80, 24],
  ])('leaves room for its keys and some of its arguments on %i × %i, whatever else is to be said', (columns, rows) => {
    const call = callOf('c1', { description: 'word '.repeat(200), unusual: Array.from({ length: 9 }, () => 'odd') });
    const { model } = play(
      withServers(statusOf('notes')),
      { kind: 'size', columns, rows },
      { kind: 'held', calls: [call] },
      { kind: 'tick', at: later },
    );
    expect(screenOf(model).split('\n')).toHaveLength(rows - 1);
    expect(screenOf(model)).toMatch(/erase of notes[\s\S]*path: [\s\S]* o once .*s [\s\S]* d deny .*l later/);
  });

  it('leaves the row that is typed in, and the chosen one, in sight above it', () => {
    const typing = play(
      withServers(statusOf('notes')),
      ...letters('a'),
      key('down'),
      key('down'),
      ...letters('npx'),
    ).model;
    const { model } = play(
      typing,
      { kind: 'size', columns: 40, rows: 12 },
      { kind: 'held', calls: [callOf('c1', { unusual: ['odd'] })] },
    );
    expect(screenOf(model)).toMatch(/› Command +npx[\s\S]*A call waits[\s\S]*Ctrl-G/);
    const many = withServers(...Array.from({ length: 30 }, (_, index) => statusOf(`server-${index}`)));
    const end = play(many, key('end'), { kind: 'held', calls: [callOf('c1')] }).model;
    expect(screenOf(end)).toMatch(/› server-9 [\s\S]*A call waits/);
  });

  it('waits behind a question that was asked before it', () => {
    const asked = play(withServers(statusOf('notes')), ...letters('d')).model;
    const shown = play(asked, { kind: 'held', calls: [callOf('c1')] }).model;
    expect(screenOf(shown)).toMatch(/A call waits[\s\S]*question below comes first[\s\S]*Remove notes\?/);
    expect(play(shown, ...letters('o', later)).commands).toEqual([]);
  });

  it('rings no bell when that is off, and none for a call that is known', () => {
    const off = play(withServers(statusOf('notes')), ...letters('b')).model;
    expect(play(off, { kind: 'held', calls: [callOf('c1')] }).commands).toEqual([]);
    expect(play(held('c1').model, { kind: 'held', calls: [callOf('c1')] }).commands).toEqual([]);
  });

  it.each<[string, object]>([
    ['o', { do: 'approve', id: 'c1', remember: 'once' }],
    ['t', { do: 'approve', id: 'c1', remember: 'tool' }],
    ['s', { do: 'approve', id: 'c1', remember: 'server' }],
  ])('is approved with one key: %s', (letter, command) => {
    expect(play(held('c1').model, ...letters(letter, later)).commands).toEqual([command]);
  });

  it('is denied with a reason, which may be left out', () => {
    const asked = play(held('c1').model, ...letters('d', later)).model;
    expect(play(asked, ...letters('no', later), key('enter', later)).commands).toEqual([
      { do: 'deny', id: 'c1', reason: 'no' },
    ]);
    expect(play(asked, key('escape', later)).commands).toEqual([]);
  });

  it('takes no key in the moment it appears, and each one it is sent then prolongs that moment', () => {
    const { model } = held('c1');
    expect(play(model, ...letters('ots', noon + 100)).commands).toEqual([]);
    const pressed = play(model, ...letters('o', noon + 650)).model;
    expect(play(pressed, ...letters('o', noon + 800)).commands).toEqual([]);
    expect(play(pressed, ...letters('o', later)).commands).toHaveLength(1);
  });

  it('leaves the keys to a form below it until it is asked for', () => {
    const typing = play(withServers(statusOf('notes')), ...letters('a')).model;
    const shown = play(typing, { kind: 'held', calls: [callOf('c1')] }).model;
    const typed = play(shown, ...letters('ots', later));
    expect(typed.commands).toEqual([]);
    expect(typed.model.add?.form.fields.name.value).toBe('ots');
    const focused = play(typed.model, input({ ctrl: 'g' }, later)).model;
    expect(play(focused, ...letters('o', later)).commands).toEqual([{ do: 'approve', id: 'c1', remember: 'once' }]);
  });

  it('is put off and shown again; the title goes on telling of it', () => {
    const put = play(held('c1').model, ...letters('l', later)).model;
    expect(screenOf(put)).not.toContain('A call waits');
    expect(screenOf(put)).toContain('1 call waiting (h)');
    expect(screenOf(play(put, ...letters('h', later)).model)).toContain('A call waits');
  });

  it('is gone from the screen as soon as it is answered, and back if the daemon did not take it', () => {
    const { model } = play(held('c1').model, ...letters('o', later));
    expect(screenOf(model)).not.toContain('A call waits');
    expect(screenOf(play(model, { kind: 'held', calls: [callOf('c1')] }).model)).toContain('A call waits');
  });

  it('makes way for the next one once it is decided, which takes no key at first either', () => {
    const { model } = held('c1', 'c2');
    expect(screenOf(model)).toContain('(1 of 2, Tab: next)');
    const next = play(play(model, { kind: 'tick', at: later }).model, { kind: 'held', calls: [callOf('c2')] }).model;
    expect(play(next, ...letters('o', later + 10)).commands).toEqual([]);
    expect(play(next, ...letters('o', later + 5_000)).commands).toEqual([
      { do: 'approve', id: 'c2', remember: 'once' },
    ]);
  });
});
