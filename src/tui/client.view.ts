/** The form for a client that was registered by hand, drawn. Pure. */
import { fieldSpans } from './field.view.ts';
import { cell, foreign, type Line, line, span } from './line.ts';
import type { Model } from './model.ts';

const titles = ['Client id', 'Secret', 'Redirect URI'] as const;
const abouts = [
  'as the provider shows it',
  'hidden; empty when the provider gave none',
  'must stand at the provider byte for byte',
] as const;

export function clientView({ client, server, columns }: Model, _height: number): readonly Line[] {
  if (client === null) return [];
  return [
    [],
    [span(' A client of your own for '), foreign(server?.name ?? '', 'strong')],
    line(' For providers that register no clients by themselves.', 'quiet'),
    [],
    ...client.fields.flatMap((field, index): Line[] => {
      const focused = index === client.focus;
      return [
        [
          span(focused ? ' › ' : '   ', 'accent'),
          cell(titles[index] ?? '', 14, focused ? 'strong' : 'plain'),
          ...fieldSpans(field, Math.max(10, columns - 19), focused, index === 1),
        ],
        line(`                 ${abouts[index] ?? ''}`, 'quiet'),
      ];
    }),
  ];
}
