import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capResult, RESULT_LIMIT } from '../../src/mcp/cap.ts';
import type { RawResult } from '../../src/mcp/connection.ts';

const plain = { hasOutputSchema: false };
const text = (value: string, more = {}) => ({ type: 'text', text: value, ...more });
const image = (bytes: number) => ({ type: 'image', mimeType: 'image/png', data: 'A'.repeat(bytes) });
const marker = (total: number, kept: number): string => `[mcp output truncated: ${total} bytes total, ${kept} kept]`;
const cap = (result: RawResult, limit: number, hasOutputSchema = false) =>
  capResult(result, { hasOutputSchema, limit });

describe('a result at the limit of 1 MiB', () => {
  it.each([
    ['one text', { content: [text('x'.repeat(1_048_576))] }],
    ['text of two bytes a character', { content: [text('é'.repeat(524_288))] }],
    ['text and image', { content: [text('x'.repeat(48_576)), image(1_000_000)] }],
    ['an embedded blob', { content: [{ type: 'resource', resource: { uri: 'a:b', blob: 'A'.repeat(1_048_576) } }] }],
    ['structured content', { content: [], structuredContent: { a: 'x'.repeat(1_048_576 - '{"a":""}'.length) } }],
    ['an error', { isError: true, content: [text('x'.repeat(1_048_576))] }],
    ['nothing at all', {}],
  ])('passes untouched: %s', (_what, result: RawResult) => {
    const capped = capResult(result, plain);
    expect(capped.result).toBe(result);
    expect(capped).toMatchObject({ truncated: false, kept: capped.total });
  });

  it('is cut when it is one byte longer', () => {
    const capped = capResult({ content: [text('x'.repeat(1_048_577))] }, plain);
    expect(capped).toEqual({
      result: { content: [text(`${'x'.repeat(1_048_576)}\n\n${marker(1_048_577, 1_048_576)}`)] },
      total: 1_048_577,
      kept: 1_048_576,
      truncated: true,
    });
  });

  it.each([
    ['é', 2, 1],
    ['漢', 3, 0],
    ['😀', 4, 3],
  ])('is cut on a character boundary: %s, of %i bytes, behind %i others', (character, bytes, before) => {
    const characters = Math.floor((RESULT_LIMIT - before) / bytes);
    const whole = 'a'.repeat(before) + character.repeat(characters);
    const capped = capResult({ content: [text(whole + character.repeat(7))] }, plain);
    const kept = before + characters * bytes;
    expect(kept).toBeLessThan(RESULT_LIMIT);
    expect(capped).toMatchObject({ total: kept + 7 * bytes, kept });
    expect(capped.result.content).toEqual([text(`${whole}\n\n${marker(capped.total, kept)}`)]);
  });

  it('cuts 3 MiB of text and says both sizes', () => {
    const { result } = capResult({ content: [text('y'.repeat(3 * RESULT_LIMIT))] }, plain);
    const [block] = result.content as { text: string }[];
    expect(block?.text.endsWith('\n\n[mcp output truncated: 3145728 bytes total, 1048576 kept]')).toBe(true);
  });
});

describe('what is counted', () => {
  const json = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  const link = { type: 'resource_link', uri: 'file:///é', name: 'x' };
  const embedded = { type: 'resource', resource: { uri: 'a:b', text: 'héllo' } };
  const both = { type: 'resource', resource: { uri: 'a:b', text: '', blob: 'AAAA' } };
  it.each([
    [
      'the text of a text block and nothing else of it',
      { content: [text('héllo', { annotations: { priority: 1 }, _meta: { a: 1 } })] },
      6,
    ],
    ['a lone surrogate as the three bytes that are sent for it', { content: [text('\ud800')] }, 3],
    ['the base64 of an image', { content: [image(8)] }, 8],
    ['the base64 of a sound', { content: [{ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }] }, 4],
    [
      'the base64 of an embedded resource',
      { content: [{ type: 'resource', resource: { uri: 'a:b', blob: 'AAAA' } }] },
      4,
    ],
    ['the JSON of an embedded text', { content: [embedded] }, json(embedded)],
    ['the JSON of an embedded resource that is both', { content: [both] }, json(both)],
    ['the JSON of a link', { content: [link] }, json(link)],
    [
      'the JSON of an unknown block',
      { content: [{ type: 'hologram', data: 'AAAA' }] },
      json({ type: 'hologram', data: 'AAAA' }),
    ],
    [
      'the JSON of a text block without text',
      { content: [{ type: 'text', text: 5 }] },
      json({ type: 'text', text: 5 }),
    ],
    ['the JSON of what is no block', { content: [null, 'x', 7] }, 'null"x"7'.length],
    ['the JSON of content that is no list', { content: 'whatever' }, '"whatever"'.length],
    ['structuredContent and _meta', { content: [], structuredContent: [1, 2], _meta: { k: 'é' } }, '[1,2]'.length + 10],
    ['no other member', { content: [], resultType: 'complete', isError: false }, 0],
  ])('%s', (_what, result: RawResult, bytes) => {
    expect(capResult(result, plain).total).toBe(bytes);
    if (bytes > 0) expect(cap(result, bytes - 1).truncated).toBe(true);
  });

  it('is counted for JSON too deep for the built-in writer', () => {
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    expect(capResult({ content: [deep] }, plain).total).toBe(100_000);
  });
});

describe('how the limit is filled', () => {
  const note = (what: string, bytes: number) => `[${what} of ${bytes} bytes left out: it does not fit into the result]`;
  const link = { type: 'resource_link', uri: 'x:y', name: 'n' };
  const linkBytes = JSON.stringify(link).length;

  it.each<[string, RawResult, number, RawResult]>([
    [
      'text is cut where the limit runs through it, later text is dropped, and a later block without room is named',
      { content: [text('12345678'), text('more'), text('later'), image(2)] },
      10,
      { content: [text('12345678'), text(`mo\n\n${marker(19, 10)}`), text(note('image image/png', 2))] },
    ],
    [
      'a cut character leaves room for a small block',
      { content: [text('漢漢'), text('later'), image(2)] },
      5,
      { content: [text(`漢\n\n${marker(13, 5)}`), image(2)] },
    ],
    [
      'text after a block that was too big is dropped even if it would fit',
      { content: [text('ab'), image(20), text('cd'), image(3)] },
      10,
      { content: [text(`ab\n\n${marker(27, 5)}`), text(note('image image/png', 20)), image(3)] },
    ],
    [
      'without any text the marker follows the note',
      { content: [image(20)] },
      10,
      { content: [text(`${note('image image/png', 20)}\n\n${marker(20, 0)}`)] },
    ],
    [
      'without text and note the marker is a block of its own, at the end',
      { content: [image(10), text('no room')] },
      10,
      { content: [image(10), text(marker(17, 10))] },
    ],
    [
      'text for which not one character fits is dropped, and the text before it carries the marker',
      { content: [text('0123456789'), text('x')] },
      10,
      { content: [text(`0123456789\n\n${marker(11, 10)}`)] },
    ],
    [
      'a link is replaced whole',
      { content: [text('a'), link] },
      5,
      { content: [text(`a\n\n${marker(1 + linkBytes, 1)}`), text(note('resource_link', linkBytes))] },
    ],
    [
      'the note about a resource names its own type',
      { content: [{ type: 'resource', resource: { uri: 'a:b', mimeType: 'application/pdf', blob: 'A'.repeat(20) } }] },
      5,
      { content: [text(`${note('resource application/pdf', 20)}\n\n${marker(20, 0)}`)] },
    ],
    [
      'a cut text keeps its other members',
      { content: [text('0123456789', { annotations: { audience: ['user'] }, _meta: { a: 1 } })] },
      4,
      { content: [text(`0123\n\n${marker(10, 4)}`, { annotations: { audience: ['user'] }, _meta: { a: 1 } })] },
    ],
    [
      '_meta comes first',
      { content: [text('0123456789')], _meta: { a: 1 } },
      10,
      { content: [text(`012\n\n${marker(17, 10)}`)], _meta: { a: 1 } },
    ],
    [
      '_meta that alone is too big goes, and text then has all the room',
      { content: [text('0123456789')], _meta: { a: 'x'.repeat(20) } },
      10,
      { content: [text(`0123456789\n\n${marker(38, 10)}`)] },
    ],
    [
      'structuredContent comes last',
      { content: [text('0123456789')], structuredContent: { a: 1 } },
      10,
      { content: [text(`0123456789\n\n${marker(17, 10)}`)] },
    ],
    [
      'structuredContent stays where it fits beside a block that did not',
      { content: [image(20)], structuredContent: { a: 1 } },
      10,
      { content: [text(`${note('image image/png', 20)}\n\n${marker(27, 7)}`)], structuredContent: { a: 1 } },
    ],
    [
      'structuredContent alone leaves the marker alone',
      { structuredContent: { a: 'x'.repeat(20) } },
      10,
      { content: [text(marker(28, 0))] },
    ],
    [
      'unknown members and isError pass',
      { isError: true, resultType: 'complete', content: [text('0123456789')] },
      4,
      { isError: true, resultType: 'complete', content: [text(`0123\n\n${marker(10, 4)}`)] },
    ],
  ])('%s', (_what, result, limit, expected) => {
    const before = structuredClone(result);
    const capped = cap(result, limit);
    expect(capped.result).toEqual(expected);
    expect(Object.keys(capped.result).sort()).toEqual(Object.keys(expected).sort());
    expect(result).toEqual(before);
  });

  it.each([
    ['dropped, and the tool has an output schema', 20, true, true],
    ['dropped, and the tool has none', 20, false, undefined],
    ['kept, and the tool has an output schema', 1, true, undefined],
  ])('structuredContent %s (%i bytes, %s): isError is %s', (_what, bytes, hasOutputSchema, isError) => {
    const result = { content: [image(20)], structuredContent: 'x'.repeat(bytes) };
    expect(cap(result, 10, hasOutputSchema).result.isError).toBe(isError);
  });

  it('writes no more than 16 notes, however many blocks do not fit', () => {
    const content = Array.from({ length: 5_000 }, () => image(2));
    const capped = cap({ content }, 1);
    expect(capped.result.content).toHaveLength(16);
    expect(capped).toMatchObject({ total: 10_000, kept: 0 });
  });

  it('lets no word of the server out of a note', () => {
    const content = [
      { type: 'image', mimeType: `a]\n\n[mcp output truncated: ${'9'.repeat(500)}`, data: 'A'.repeat(20) },
    ];
    const [block] = cap({ content }, 10).result.content as { text: string }[];
    expect(block?.text.split('\n\n')).toEqual([
      `[image ${'a]??[mcp?output?truncated??999999'.replace(/[[\]]/g, '?').padEnd(60, '9')} of 20 bytes left out: it does not fit into the result]`,
      marker(20, 0),
    ]);
  });
});

const anyText = fc.string({ unit: fc.constantFrom('a', 'é', '漢', '😀', '\ud83d', '\ude00', '\n'), maxLength: 30 });
const anyBlock = fc.oneof(
  anyText.map((value) => text(value)),
  fc.nat({ max: 40 }).map(image),
  fc.nat({ max: 40 }).map((bytes) => ({ type: 'resource', resource: { uri: 'a:b', blob: 'A'.repeat(bytes) } })),
  fc.record({ type: fc.constantFrom('resource_link', 'other'), name: anyText }),
  fc.jsonValue({ maxDepth: 1 }),
);
const anyResult = fc.record(
  {
    content: fc.array(anyBlock, { maxLength: 8 }),
    structuredContent: fc.jsonValue({ maxDepth: 2 }),
    _meta: fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }),
    isError: fc.boolean(),
  },
  { requiredKeys: ['content'] },
);

describe('any result under any limit', () => {
  it('keeps what it says it keeps, within the limit, and nothing that was not sent', () => {
    fc.assert(
      fc.property(anyResult, fc.nat({ max: 150 }), fc.boolean(), (result: RawResult, limit, hasOutputSchema) => {
        const capped = cap(result, limit, hasOutputSchema);
        expect(capped.truncated).toBe(capped.total > limit);
        if (!capped.truncated) {
          expect(capped.result).toBe(result);
          return;
        }
        expect(capped.kept).toBeLessThanOrEqual(limit);
        const written = JSON.stringify(capped.result);
        expect(written.split('[mcp output truncated: ')).toHaveLength(2);
        expect(written).toContain(marker(capped.total, capped.kept));
        expect(capped.result.isError).toBe(
          hasOutputSchema && result.structuredContent !== undefined && capped.result.structuredContent === undefined
            ? true
            : result.isError,
        );
        // Take away what the cap wrote, and exactly `kept` bytes are left.
        const content = (capped.result.content as any[])
          .map((block) =>
            block?.type === 'text'
              ? { ...block, text: block.text?.replace?.(/(\n\n)?\[mcp output truncated: .*\]$/, '') }
              : block,
          )
          .filter((block) => !/^\[.* of \d+ bytes left out: .*\]$/.test(block?.text ?? ''));
        expect(capResult({ ...capped.result, content }, plain).total).toBe(capped.kept);
      }),
      { numRuns: 500 },
    );
  });
});
