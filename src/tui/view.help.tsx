/** All keys on one page. Pure. */
import type { ReactNode } from 'react';
import { bodyRows } from './layout.ts';
import { cell, type Line, line, span } from './line.ts';
import type { Model } from './state.ts';
import { Rows } from './view.parts.tsx';

type Keys = readonly (readonly [key: string, does: string])[];

/** Every key, by where it counts. docs/tui.md lists the same ones. */
export const keysOf: Readonly<Record<'Servers' | 'One server' | 'Everywhere', Keys>> = {
  Servers: [
    ['Enter', 'open'],
    ['a', 'add a server'],
    ['e', 'change its entry'],
    ['d', 'remove (asks)'],
    ['r', 'reconnect it'],
    ['R', 'reconnect all'],
    ['x', 'disable or enable'],
    ['l', 'log in'],
    ['s', 'sort by the next column'],
    ['/', 'filter; or /mcp …'],
    ['q', 'quit'],
  ],
  'One server': [
    ['Tab 1-6', 'next tab, or by number'],
    ['Space', 'tick a grant'],
    ['Enter', 'save the grants'],
    ['↑ ↓', 'move, scroll'],
    ['← →', 'timeline: go to the past'],
    ['End', 'timeline: to the present'],
    ['Esc', 'back'],
  ],
  Everywhere: [
    ['h', 'calls that wait'],
    ['B', 'bell on or off'],
    ['/mcp add', 'add a server'],
    ['/mcp NAME', 'go to a server'],
    ['?', 'these keys'],
    ['Ctrl-C', 'quit'],
  ],
};

function column(title: keyof typeof keysOf, width: number): readonly Line[] {
  return [
    [cell(title, width, 'strong')],
    ...keysOf[title].map(([key, does]): Line => [cell(key, 11, 'accent'), cell(does, width - 11)]),
  ];
}

export function Help({ model }: { readonly model: Model }): ReactNode {
  const width = model.size.columns;
  const half = Math.floor((width - 4) / 2);
  const left = column('Servers', half);
  const right = [...column('One server', half), [], ...column('Everywhere', half)];
  const lines = Array.from({ length: Math.max(left.length, right.length) }, (_, index): Line => {
    const [first = [cell('', half)], second = []] = [left[index], right[index]];
    return [span('  '), ...first, span('  '), ...second];
  });
  const shown = [[], ...lines, [], line('  Any key goes back.', 'quiet')];
  return <Rows lines={shown} rows={bodyRows(model.size)} width={width} />;
}
