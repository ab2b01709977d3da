/** The whole screen: title, body, notice, keys. Pure. */
import { Box } from 'ink';
import type { ReactNode } from 'react';
import { counted, duration } from '../cli/duration.ts';
import { oneLine } from '../cli/paint.ts';
import { bodyRows, isTooSmall, least } from './layout.ts';
import { type Line, line, type Span, span } from './line.ts';
import { shownCall } from './model.held.ts';
import type { Model, Question } from './state.ts';
import { isChanged } from './tool.rows.ts';
import { Add, titleOfForm } from './view.add.tsx';
import { HeldCall } from './view.held.tsx';
import { Help } from './view.help.tsx';
import { Client, LoginScreen } from './view.login.tsx';
import { Colors, fieldSpans, type Keys, keysLine, Row, Rows, spread } from './view.parts.tsx';
import { Server } from './view.server.tsx';
import { Servers } from './view.servers.tsx';

function titleOf({ screen }: Model): string {
  switch (screen.at) {
    case 'servers':
      return 'MCP servers';
    case 'server':
      return screen.opened.name;
    case 'add':
      return titleOfForm(screen.form);
    case 'client':
      return `Client for ${screen.form.name}`;
    case 'login':
      return `Log in to ${screen.login.name}`;
  }
}

function summary(model: Model): Line {
  if (!model.daemon.up) return [span('no daemon ', 'bad')];
  const rows = model.status ?? [];
  const ready = rows.filter(({ state }) => state === 'ready').length;
  const trouble = rows.filter(({ state }) => /^(?:failed|backing-off|auth-required|session-lost)$/.test(state)).length;
  const held = model.held.calls.length;
  return [
    ...(held === 0 ? [] : [span(`${counted(held, 'call')} ${held === 1 ? 'waits' : 'wait'} (h)`, 'warn'), span('  ')]),
    ...(trouble === 0 ? [] : [span(`${trouble} in trouble`, 'bad'), span('  ')]),
    span(`${ready} of ${rows.length} ready `, 'quiet'),
  ];
}

const questions: Readonly<Record<Question['about'], (question: Question) => string>> = {
  remove: (question) =>
    `Remove ${'name' in question ? question.name : ''}? It is stopped; its entry, grants and credentials go.`,
  logout: (question) => `Log out of ${'name' in question ? question.name : ''}? Its token is deleted.`,
  'leave-form': () => 'Leave without saving?',
};

/** One row above the keys: a question, the line that is typed, or what there is to say. */
function noticeLine(model: Model): Line {
  const { asking, typing, notice, daemon } = model;
  if (asking !== null) return [span(` ${questions[asking.about](asking)} `, 'strong'), span('y/N', 'accent')];
  if (typing !== null) return [span(' /', 'accent'), ...fieldSpans(typing, Math.max(10, model.size.columns - 4))];
  if (!daemon.up) {
    const since = duration(model.now - daemon.since);
    const what = daemon.starting ? 'Starting the daemon …' : `The daemon does not answer (${since}); waiting for it.`;
    return [span(` ${what}`, 'bad'), ...(daemon.starting ? [] : [span('  U', 'accent'), span(' starts it')])];
  }
  return notice === null ? [] : [span(` ${oneLine(notice.text)}`, notice.tone)];
}

function keysFor(model: Model): Keys {
  const { screen, asking, typing } = model;
  if (shownCall(model.held) !== null) return [['Ctrl-C', 'quit']];
  if (asking !== null)
    return [
      ['y', 'yes'],
      ['any other key', 'no'],
    ];
  if (typing !== null)
    return [
      ['Enter', ''],
      ['mcp', 'list'],
      ['mcp add', ''],
      ['mcp NAME', 'or words to filter by'],
      ['Esc', ''],
    ];
  switch (screen.at) {
    case 'servers':
      return [
        ['Enter', 'open'],
        ['a', 'add'],
        ['d', 'remove'],
        ['r', 'reconnect'],
        ['R', 'all'],
        ['x', 'disable'],
        ['/', 'filter'],
        ['s', 'sort'],
        ['?', 'keys'],
        ['q', 'quit'],
      ];
    case 'server':
      return serverKeys(screen.opened);
    case 'add':
      return formKeys(screen.form);
    case 'client':
      return [
        ['Tab', 'next field'],
        ['Enter', 'next, then log in'],
        ['Esc', 'back'],
      ];
    case 'login':
      if (screen.login.ended !== null)
        return [
          ['Enter', 'back to the server'],
          ['Esc', 'back'],
        ];
      return [
        ['o', 'open the browser'],
        ['Enter', 'hand over the pasted address'],
        ['Esc', 'end the login'],
      ];
  }
}

function serverKeys(opened: Extract<Model['screen'], { at: 'server' }>['opened']): Keys {
  const back: Keys[number] = ['Esc', opened.moment === null ? 'back' : 'to the present'];
  const common: Keys = [
    ['Tab', 'next tab'],
    ['e', 'change'],
    ['r', 'reconnect'],
    ['x', 'disable'],
    ['?', 'keys'],
    back,
  ];
  if (opened.tab === 'tools')
    return isChanged(opened)
      ? [
          ['Space', 'tick'],
          ['Enter', 'save'],
          ['Esc', 'leave as it was'],
        ]
      : [['Space', 'tick'], ['/', 'filter'], ...common];
  if (opened.tab === 'timeline')
    return [
      ['↑↓', 'move'],
      ['←→', 'time travel'],
      ['End', 'present'],
      ['Tab', 'next tab'],
      ['r', 'reconnect'],
      ['?', 'keys'],
      back,
    ];
  if (opened.tab === 'login') return [['Enter', 'log in'], ['c', 'client'], ...common];
  return [['↑↓', 'scroll'], ...common];
}

function formKeys(form: Extract<Model['screen'], { at: 'add' }>['form']): Keys {
  switch (form.phase.at) {
    case 'tested':
      return [
        ['Enter', 'back to the form'],
        ['s', 'save all the same'],
        ['↑↓', 'scroll'],
      ];
    case 'testing':
      return [['Esc', 'back to the form']];
    case 'saving':
      return [];
    case 'form':
      return [
        ['Tab', 'next'],
        ['←→', form.focus === 'transport' || form.focus === 'auth' ? 'choose' : 'move'],
        ['Ctrl-S', 'test and save'],
        ...(form.focus === 'secret' ? [['Ctrl-O', 'show or hide'] as const] : []),
        ['Esc', 'leave'],
      ];
  }
}

function Body({ model }: { readonly model: Model }): ReactNode {
  if (shownCall(model.held) !== null) return <HeldCall model={model} />;
  if (model.help) return <Help model={model} />;
  const { screen } = model;
  switch (screen.at) {
    case 'servers':
      return <Servers model={model} />;
    case 'server':
      return <Server model={model} opened={screen.opened} />;
    case 'add':
      return <Add model={model} form={screen.form} />;
    case 'client':
      return <Client model={model} form={screen.form} />;
    case 'login':
      return <LoginScreen model={model} login={screen.login} />;
  }
}

/** Everything that is on the screen. `colored` false: bold, dim and swapped only. */
export function Screen({ model, colored }: { readonly model: Model; readonly colored: boolean }): ReactNode {
  const { columns, rows } = model.size;
  if (isTooSmall(model.size)) {
    const text = `Too small: ${least.columns} x ${least.rows} at least.`;
    return <Rows lines={[line(text)]} rows={rows} width={columns} />;
  }
  const filter = model.list.filter;
  const filtered: readonly Span[] =
    model.screen.at === 'servers' && filter !== '' ? [span(`  filter: ${oneLine(filter)}`, 'warn')] : [];
  const title: Line = [
    span(' Watchkeeper', 'strong'),
    span(' · ', 'quiet'),
    span(titleOf(model), 'strong'),
    ...filtered,
  ];
  return (
    <Colors value={colored}>
      <Box flexDirection="column" width={columns} height={rows}>
        <Row spans={spread(title, summary(model), columns)} width={columns} />
        <Box height={bodyRows(model.size)} width={columns}>
          <Body model={model} />
        </Box>
        <Row spans={noticeLine(model)} width={columns} />
        <Row spans={keysLine(keysFor(model), columns)} width={columns} />
      </Box>
    </Colors>
  );
}
