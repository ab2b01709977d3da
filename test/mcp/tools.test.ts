import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_DEPTH } from '../../src/canonical.ts';
import type { ToolDefinition } from '../../src/events/shapes.ts';
import { sha256Hex } from '../../src/hash.ts';
import { definitionHash, diffTools, listSignature, readTools } from '../../src/mcp/tools.ts';

const read = (...tools: unknown[]) => readTools(tools, sha256Hex);
const good = (name: string) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
});
const deepSchema = (levels: number): object =>
  JSON.parse(`${'{"type":"object","properties":{"a":'.repeat(levels)}{}${'}}'.repeat(levels)}`);
/** The one tool of a list. */
const only = (tool: unknown) => {
  const { tools, warnings } = read(tool);
  return { tool: tools[0], warnings };
};

describe('a tool as it is taken', () => {
  it('keeps every member and shows what the registry needs', () => {
    const definition = {
      ...good('a'),
      title: 'A tool',
      annotations: { title: 'unused', readOnlyHint: true },
      outputSchema: { type: 'object', properties: {} },
      icons: [{ src: 'x' }],
      _meta: { ui: { resourceUri: 'ui://x' } },
    };
    const { tool, warnings } = only(definition);
    expect(tool?.definition).toBe(definition);
    expect(tool).toMatchObject({
      name: 'a',
      description: 'Does a.',
      title: 'A tool',
      annotations: definition.annotations,
      flags: [],
    });
    expect(tool?.parameters).toBe(definition.inputSchema);
    expect(tool?.outputSchema).toBe(definition.outputSchema);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['the title', { title: 'T', annotations: { title: 'A' } }, 'T'],
    ['the title of the annotations', { annotations: { title: 'A' } }, 'A'],
    ['nothing', { title: 5, annotations: 'x' }, null],
  ])('is titled by %s', (_what, members, title) => {
    expect(only({ ...good('a'), ...members }).tool?.title).toBe(title);
  });

  it('has an empty description where the server gives none', () => {
    expect(only({ name: 'a', inputSchema: { type: 'object' }, description: null }).tool?.description).toBe('');
  });
});

describe('a bad tool among good ones', () => {
  const properties = { a: { type: 'string' } };
  it.each([
    [
      'inputSchema missing',
      {},
      { type: 'object', properties: {} },
      'inputSchema is missing; any arguments are let through',
    ],
    [
      'inputSchema true',
      { inputSchema: true },
      { type: 'object', properties: {} },
      'inputSchema is not an object; any arguments are let through',
    ],
    [
      'inputSchema a list',
      { inputSchema: [] },
      { type: 'object', properties: {} },
      'inputSchema is not an object; any arguments are let through',
    ],
    [
      'no type',
      { inputSchema: { properties } },
      { type: 'object', properties },
      'inputSchema has no type; it is read as "object"',
    ],
    [
      'type: "string"',
      { inputSchema: { type: 'string' } },
      { type: 'object' },
      'inputSchema has a type that is not "object"; it is read as "object"',
    ],
    [
      'a list of types',
      { inputSchema: { type: ['object', 'null'] } },
      { type: 'object' },
      'inputSchema has a type that is not "object"; it is read as "object"',
    ],
    [
      'required: null',
      { inputSchema: { type: 'object', required: null } },
      { type: 'object' },
      'inputSchema has a "required" that is not a list of names; it is left out',
    ],
    [
      'properties: null',
      { inputSchema: { type: 'object', properties: null } },
      { type: 'object' },
      'inputSchema has "properties" that are not an object; they are left out',
    ],
    [
      'a $ref to nowhere',
      { inputSchema: { type: 'object', $ref: '#/x' } },
      { type: 'object', $ref: '#/x' },
      'inputSchema: $ref #/x points to nothing',
    ],
    [
      'a $ref to itself',
      { inputSchema: { type: 'object', $ref: '#' } },
      { type: 'object', $ref: '#' },
      'inputSchema: a $ref leads back to itself',
    ],
    [
      'a remote $ref',
      { inputSchema: { type: 'object', $ref: 'http://127.0.0.1:9/x' } },
      { type: 'object', $ref: 'http://127.0.0.1:9/x' },
      'inputSchema: $ref http://127.0.0.1:9/x points to another document, which is not fetched',
    ],
  ])('%s', (_what, members, parameters, flag) => {
    const bad = { name: 'bad', ...members };
    const { tools, warnings } = read(good('x'), bad, good('y'));
    expect(tools.map(({ name }) => name)).toEqual(['x', 'bad', 'y']);
    expect(tools[1]).toMatchObject({ definition: bad, parameters, flags: [flag] });
    expect(Object.keys(tools[1]?.parameters ?? {})).toEqual(Object.keys(parameters));
    expect(warnings).toEqual([`tool "bad": ${flag}`]);
  });

  it.each([
    ['no object', 'text', 'outputSchema is not an object; it is left out'],
    [
      'one that cannot be compiled',
      { type: 'object', properties: { a: { type: 'banana' } } },
      'outputSchema is left out: "type" is "banana", which JSON Schema does not know',
    ],
    [
      'a remote $ref',
      { type: 'object', $ref: 'https://example.com' },
      'outputSchema is left out: $ref https://example.com points to another document, which is not fetched',
    ],
  ])('an outputSchema that is %s is left out and stays in the definition', (_what, outputSchema, flag) => {
    const { tool } = only({ ...good('a'), outputSchema });
    expect(tool).toMatchObject({ outputSchema: null, definition: { outputSchema }, flags: [flag] });
  });

  it.each([
    ['no name', { description: 'x' }],
    ['an empty name', { name: '' }],
    ['a name that is a number', { name: 5 }],
    ['null for a tool', null],
    ['a list for a tool', ['name']],
  ])('%s is left out with a reason', (_what, bad) => {
    const { tools, warnings } = read(good('x'), bad);
    expect(tools.map(({ name }) => name)).toEqual(['x']);
    expect(warnings).toEqual(['tool number 2 has no name and is left out']);
  });

  it('a name listed twice is taken once, the first time', () => {
    const { tools, warnings } = read(good('x'), { ...good('x'), description: 'again' }, good('__proto__'));
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ['x', 'Does x.'],
      ['__proto__', 'Does __proto__.'],
    ]);
    expect(warnings).toEqual(['tool "x" is listed more than once; the first one counts']);
  });

  it('names the first problems of a schema and counts the others', () => {
    const properties = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`p${i}`, { $ref: `#/x${i}` }]));
    expect(only({ name: 'a', inputSchema: { type: 'object', properties } }).tool?.flags).toHaveLength(4);
  });

  it('warns at most 20 times and once about the rest', () => {
    const { warnings } = read(...Array.from({ length: 500 }, () => ({})));
    expect(warnings).toHaveLength(21);
    expect(warnings.at(-1)).toBe('and 480 more of this kind');
  });
});

describe('a tool nested too deeply', () => {
  it.each([2_000, 20_000])('%i levels: the tool stays, the member is replaced by its hash', (levels) => {
    const { tools, warnings } = read(good('x'), {
      ...good('deep'),
      inputSchema: deepSchema(levels),
      _meta: { a: deepSchema(levels) },
    });
    const deep = tools[1];
    expect(tools).toHaveLength(2);
    expect(deep?.parameters).toMatchObject({ type: 'object', $comment: expect.stringMatching(/sha256 [0-9a-f]{64}$/) });
    expect(() => JSON.stringify(tools)).not.toThrow();
    expect(warnings).toEqual([
      `tool "deep": "inputSchema" is nested more than ${MAX_DEPTH} levels deep and is left out`,
      `tool "deep": "_meta" is nested more than ${MAX_DEPTH} levels deep and is left out`,
    ]);
  });

  it('changes its hash when the deep part changes', () => {
    const one = only({ name: 'a', inputSchema: deepSchema(2_000) }).tool;
    const other = only({ name: 'a', inputSchema: deepSchema(2_001) }).tool;
    expect(one?.hash).not.toBe(other?.hash);
  });

  it('is shown in full up to the limit', () => {
    const inputSchema = deepSchema(MAX_DEPTH / 2 - 1);
    expect(only({ name: 'a', inputSchema }).tool?.parameters).toBe(inputSchema);
  });
});

describe('the hash of a definition', () => {
  const base = { ...good('a'), annotations: { readOnlyHint: true }, outputSchema: { type: 'object' } };
  const hash = (definition: ToolDefinition): string => definitionHash(definition, sha256Hex);

  it('is of the sorted JSON of name, description, schemas and annotations', () => {
    expect(hash({ name: 'a', description: 'b', inputSchema: { type: 'object' }, title: 'unused' })).toBe(
      sha256Hex('{"description":"b","inputSchema":{"type":"object"},"name":"a"}'),
    );
  });

  it.each([
    ['its name', { name: 'b' }],
    ['its description', { description: 'Deletes everything.' }],
    ['its input schema', { inputSchema: { type: 'object', properties: {} } }],
    ['its output schema', { outputSchema: { type: 'object', properties: {} } }],
    ['its annotations', { annotations: { readOnlyHint: false } }],
  ])('changes with %s', (_what, members) => {
    expect(hash({ ...base, ...members })).not.toBe(hash(base));
  });

  it.each([
    [
      'the order of keys',
      { annotations: { readOnlyHint: true }, inputSchema: { properties: { a: { type: 'string' } }, type: 'object' } },
    ],
    ['title, icons and _meta', { title: 'x', icons: [], _meta: { a: 1 } }],
  ])('does not change with %s', (_what, members) => {
    expect(hash({ ...base, ...members })).toBe(hash(base));
  });
});

describe('the signature of a list', () => {
  const signature = (...tools: unknown[]): string => listSignature(tools, sha256Hex);

  it.each([
    ['a tool more', [good('a'), good('b'), good('c')]],
    ['a tool less', [good('a')]],
    ['an unknown member', [good('a'), { ...good('b'), icons: [] }]],
    ['a tool that is left out anyway', [good('a'), good('b'), { description: 'no name' }]],
    ['a repetition', [good('a'), good('b'), good('b')]],
  ])('changes with %s', (_what, tools) => {
    expect(signature(...tools)).not.toBe(signature(good('a'), good('b')));
  });

  it('does not depend on the order of tools or of keys', () => {
    const { name, description, inputSchema } = good('b');
    expect(signature({ inputSchema, description, name }, good('a'))).toBe(signature(good('a'), good('b')));
  });

  it('is made of lists with anything in them, however deep', () => {
    expect(signature(null, 5, {}, { name: 'a', inputSchema: deepSchema(20_000) })).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('the difference between two lists', () => {
  it('names added, removed and changed tools in order of name', () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(good);
    const changed = { ...b, description: 'Other.' };
    expect(diffTools([d, b, a] as ToolDefinition[], [changed, c, a] as ToolDefinition[])).toEqual({
      added: [c],
      removed: [d],
      changed: [{ name: 'b', before: b, after: changed }],
    });
  });

  it('is nothing when only the order of tools and keys differs', () => {
    const { name, description, inputSchema } = good('b');
    expect(diffTools([good('a'), good('b')], [{ inputSchema, name, description }, good('a')])).toEqual({
      added: [],
      removed: [],
      changed: [],
    });
  });

  it('sees a change of any member', () => {
    expect(diffTools([good('a')], [{ ...good('a'), _meta: { v: 2 } }]).changed).toHaveLength(1);
  });
});

const anyTool = fc.oneof(
  fc.record(
    {
      name: fc.constantFrom('a', 'b', '__proto__', 'constructor', '漢', ''),
      inputSchema: fc.jsonValue(),
      outputSchema: fc.jsonValue(),
      annotations: fc.jsonValue(),
      description: fc.jsonValue(),
    },
    { requiredKeys: ['name'] },
  ),
  fc.jsonValue(),
);

describe('any list', () => {
  it('is read without an exception, into object schemas, and reading the outcome again changes nothing', () => {
    fc.assert(
      fc.property(fc.array(anyTool, { maxLength: 6 }), (list) => {
        const once = readTools(list, sha256Hex);
        for (const { name, parameters } of once.tools) {
          expect(name).not.toBe('');
          expect(parameters.type).toBe('object');
        }
        expect(new Set(once.tools.map(({ name }) => name)).size).toBe(once.tools.length);
        expect(
          readTools(
            once.tools.map(({ definition }) => definition),
            sha256Hex,
          ).tools,
        ).toEqual(once.tools);
      }),
    );
  });
});
