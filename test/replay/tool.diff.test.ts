import { describe, expect, it } from 'vitest';
import type { ToolDefinition } from '../../src/events/shapes.ts';
import { lineText, toolDiff } from '../../src/replay/tool.diff.ts';

const linesOf = (before: Partial<ToolDefinition>, after: Partial<ToolDefinition>): string[] => {
  const members = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const named = (tool: Partial<ToolDefinition>): ToolDefinition => ({ name: 'one', ...tool });
  return toolDiff(named(before), named(after), members).map((line) => lineText(line));
};

describe('A changed tool is shown', () => {
  it.each<[string, Partial<ToolDefinition>, Partial<ToolDefinition>, string[]]>([
    [
      'word by word in its description',
      { description: 'Reads the graph. Fast.' },
      { description: 'Reads and writes the graph. Slow.' },
      ['description: Reads {+and writes +}the graph. [-Fast-]{+Slow+}.'],
    ],
    ['with a description it had not', {}, { description: 'New words.' }, ['description: {+"New words."+}']],
    [
      'by the path of a parameter',
      { inputSchema: { type: 'object', properties: { q: { type: 'string' }, old: { type: 'null' } } } },
      { inputSchema: { type: 'object', properties: { q: { type: 'number' }, limit: { type: 'integer' } } } },
      [
        'inputSchema.q.type: [-"string"-] {+"number"+}',
        'inputSchema.old: [-{"type":"null"}-]',
        'inputSchema.limit: {+{"type":"integer"}+}',
      ],
    ],
    [
      'by what a list gained and lost',
      { inputSchema: { required: ['a', 'b'], enum: [1, 2] } },
      { inputSchema: { required: ['b', 'c'], enum: [2, 1] } },
      ['inputSchema.required: [-"a"-] {+"c"+}', 'inputSchema.enum: [-[1,2]-] {+[2,1]+}'],
    ],
    [
      'with a parameter that is called properties',
      { inputSchema: { properties: { properties: { type: 'string' } } } },
      { inputSchema: { properties: { properties: { type: 'object' } } } },
      ['inputSchema.properties.type: [-"string"-] {+"object"+}'],
    ],
    [
      'by its annotations',
      { annotations: { readOnlyHint: true } },
      { annotations: { readOnlyHint: false } },
      ['annotations.readOnlyHint: [-true-] {+false+}'],
    ],
    [
      'not at all where only the order of keys differs',
      { inputSchema: { a: 1, b: 2 } },
      { inputSchema: { b: 2, a: 1 } },
      [],
    ],
  ])('%s', (_how, before, after, expected) => {
    expect(linesOf(before, after)).toEqual(expected);
  });

  it('with the ends of a long text that did not change', () => {
    const long = 'It reads and reads. '.repeat(40);
    const [line] = linesOf({ description: `${long}Fast.` }, { description: `${long}Slow.` });
    expect(line).toMatch(/^description: {2}… .{40}\[-Fast-\]\{\+Slow\+\}\.$/);
  });

  it('in a bounded number of lines, however much a server changes', () => {
    const properties = (type: string) => Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`p${n}`, { type }]));
    const lines = linesOf(
      { inputSchema: { properties: properties('a') } },
      { inputSchema: { properties: properties('b') } },
    );
    expect(lines).toHaveLength(201);
    expect(lines.at(-1)).toBe('…: 700 more places');
  });

  it('from where a value too long to compare begins to differ, so that nothing hides behind its beginning', () => {
    const long = 'It reads. '.repeat(3_000);
    const [line] = linesOf({ description: `${long}Kindly.` }, { description: `${long}And deletes.` });
    expect(line).toMatch(/\[-….*Kindly\..*-\]/);
    expect(line).toMatch(/\{\+….*And deletes\..*\+\}/);
    expect(line?.length).toBeLessThan(300);
  });

  it('as a whole where comparing words would take too long', () => {
    const [line] = linesOf({ description: 'a '.repeat(15_000) }, { description: 'b '.repeat(15_000) });
    expect(line?.length).toBeLessThan(4_200);
  });
});
