/** The keys: a line at the bottom, and all of them on a page. Pure. */
import { hasKeys } from './held.ts';
import { cell, type Line, line, type Span, span } from './line.ts';
import type { Model } from './model.ts';
import { isOauth } from './server.keys.ts';

type Hint = readonly [key: string, what: string];

export const keyGroups: readonly { readonly title: string; readonly keys: readonly Hint[] }[] = [
  {
    title: 'Everywhere',
    keys: [
      ['?', 'these keys'],
      ['/', 'filter the list, or type a command: /mcp, /mcp add, /mcp <server>'],
      ['h', 'calls that wait for you'],
      ['b', 'bell on or off'],
      ['Esc', 'one step back'],
      ['q', 'back, from the list: leave'],
      ['Ctrl-C', 'leave at once; servers and the daemon go on'],
      ['Ctrl-Z', 'to the shell; fg comes back'],
    ],
  },
  {
    title: 'Servers',
    keys: [
      ['↑ ↓', 'choose'],
      ['Enter', 'open'],
      ['a', 'add a server'],
      ['d', 'remove it (asks)'],
      ['r  R', 'reconnect it, reconnect all'],
      ['x', 'disable, or enable'],
      ['s', 'sort by name, state, since, tools'],
    ],
  },
  {
    title: 'An opened server',
    keys: [
      ['Tab 1-6', 'tools, timeline, stderr, why, config, login'],
      ['Space', 'tick a tool, all tools, or the whole server'],
      ['Enter', 'save what is ticked'],
      ['← →', 'one fact back or on: everything as it was then'],
      ['e', 'change its entry'],
      ['l o c', 'on login: log in, log out, give a client'],
    ],
  },
  {
    title: 'A call that waits',
    keys: [
      ['o t s', 'run it once; this tool, the whole server from now on'],
      ['d  l', 'deny it with a reason; later'],
      ['Ctrl-G', 'to the call, while you type something else'],
    ],
  },
];

export function helpView({ help }: Model, height: number): readonly Line[] {
  const lines = keyGroups.flatMap(({ title, keys }): Line[] => [
    [],
    line(` ${title}`, 'strong'),
    ...keys.map(([key, what]): Line => [cell(`   ${key}`, 13, 'accent'), span(what)]),
  ]);
  if (lines.length <= height) return lines;
  const from = Math.min(help?.scroll ?? 0, lines.length - height + 1);
  const rest = lines.length - from - (height - 1);
  return [...lines.slice(from, from + height - 1), line(rest > 0 ? `   ↓ ${rest} more` : '', 'quiet')];
}

function hintsFor(model: Model): readonly Hint[] {
  if (model.help)
    return [
      ['↑ ↓', 'scroll'],
      ['any other key', 'back'],
    ];
  if (model.held.reason !== null && hasKeys(model))
    return [
      ['Enter', 'deny it'],
      ['Esc', 'back'],
    ];
  if (hasKeys(model))
    return [
      ['↑ ↓', 'arguments'],
      ['Esc', 'later'],
    ];
  if (model.login)
    return [
      ...(model.login.field.value === '' && model.login.url !== null
        ? ([
            ['o', 'open'],
            ['c', 'copy'],
          ] as const)
        : ([['Ctrl-U', 'empty']] as const)),
      ['Enter', 'send what is pasted'],
      ['Esc', 'give up'],
    ];
  if (model.client)
    return [
      ['Tab', 'next'],
      ['Enter', 'next, at the end: save'],
      ['Esc', 'back'],
    ];
  if (model.add && model.add.trial !== null) return [['Esc', 'back to the form']];
  if (model.add)
    return [
      ['Tab', 'next'],
      ['Ctrl-S', 'test and save'],
      ['Esc', 'back'],
    ];
  const { server } = model;
  if (server === null) {
    return [
      ['Enter', 'open'],
      ['a', 'add'],
      ['d', 'remove'],
      ['r R', 'reconnect'],
      ['x', 'disable'],
      ['/', 'filter'],
      ['s', 'sort'],
      ['?', 'keys'],
      ['q', 'leave'],
    ];
  }
  const common: readonly Hint[] = [
    ['Tab', 'next'],
    ['← →', 'time'],
    ['e', 'change'],
    ['r', 'reconnect'],
    ['?', 'keys'],
    ['Esc', 'back'],
  ];
  if (server.tab === 'tools') return [['Space', 'tick'], ['Enter', 'save'], ...common];
  if (server.tab === 'login' && isOauth(model, server.name))
    return [['l', 'log in'], ['o', 'log out'], ['c', 'client'], ...common];
  return common;
}

/** As many keys as fit; the way out stays. */
export function hintsOf(model: Model): Line {
  const part = ([key, what]: Hint): Span[] => [span(` ${key}`, 'accent'), span(` ${what} `, 'quiet')];
  const widthOf = (hints: readonly Hint[]): number =>
    hints.reduce((sum, [key, what]) => sum + key.length + what.length + 3, 0);
  const hints = [...hintsFor(model)];
  while (hints.length > 2 && widthOf(hints) > model.columns) hints.splice(-3, 1);
  return hints.flatMap(part);
}
