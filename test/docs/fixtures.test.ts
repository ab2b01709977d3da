import { describe, expect, it } from 'vitest';
import { parseFixture, step } from '../../src/replay/fixture/format.ts';
import { page, tableUnder } from './pages.ts';

const text = page('docs/fixtures.md');

describe('docs/fixtures.md', () => {
  it('lists every step with its members', () => {
    const listed = tableUnder(text, '### Steps').map(([is = '', , members = '']) => [is, members].map(plain));
    const shapes = step.options.map(({ shape }) => [
      shape.is.value,
      Object.entries(shape)
        .filter(([member]) => member !== 'is' && member !== 'at')
        .map(([member, schema]) => `${member}${schema.isOptional() ? '?' : ''}`)
        .join(', '),
    ]);
    expect(listed.sort()).toEqual(shapes.sort());
  });

  it('has an example that can be served', () => {
    const after = text.slice(text.indexOf('### Written by hand'));
    const [, example = ''] = /```json\n([\s\S]*?)```/.exec(after) ?? [];
    expect(parseFixture(example)).toMatchObject({ server: 'tea', lives: [{ steps: { length: 5 } }] });
  });
});

const plain = (cell: string): string => cell.replaceAll('`', '');
