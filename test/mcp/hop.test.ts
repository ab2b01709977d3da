import { expect, it } from 'vitest';
import { forwarded } from '../../src/mcp/hop.ts';

const key = (name: string) => `io.modelcontextprotocol/${name}`;

it.each([
  ['nothing', undefined, undefined, undefined],
  ['an empty object', {}, undefined, undefined],
  ['a token of the caller alone', { progressToken: 7 }, undefined, undefined],
  ['what a vendor puts there', { 'vendor/x': { deep: [1] }, traceparent: '00-a' }, 'same', 'same'],
  ['a task it belongs to', { [key('related-task')]: { taskId: 't' } }, 'same', 'same'],
  ['the log level of one request', { [key('logLevel')]: 'debug' }, undefined, 'same'],
  [
    'what each hop says of itself',
    {
      [key('protocolVersion')]: '2026-07-28',
      [key('clientInfo')]: { name: 'c' },
      [key('clientCapabilities')]: {},
      [key('subscriptionId')]: 1,
    },
    undefined,
    undefined,
  ],
])('%s goes on, or does not', (_, meta, legacy, modern) => {
  expect(forwarded(meta, false)).toEqual(legacy === 'same' ? meta : legacy);
  expect(forwarded(meta, true)).toEqual(modern === 'same' ? meta : modern);
});

it('leaves the caller\u2019s own object as it was', () => {
  const meta = { progressToken: 1, a: 2 };
  expect(forwarded(meta, false)).toEqual({ a: 2 });
  expect(meta).toEqual({ progressToken: 1, a: 2 });
});
