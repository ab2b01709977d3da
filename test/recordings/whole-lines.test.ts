import { expect, it } from 'vitest';
import { WholeLines } from '../../src/recordings/whole-lines.ts';

const redact = (text: string): string => text.replaceAll('plum-pudding', '***');

it('a secret that comes in two pieces is masked all the same', () => {
  const lines = new WholeLines();
  expect(lines.push(Buffer.from('one plum-'), redact)).toBe('');
  expect(lines.push(Buffer.from('pudding\ntwo'), redact)).toBe('one ***\n');
  expect(lines.rest(redact)).toBe('two');
  expect(lines.rest(redact)).toBe('');
});

it('a character that comes in two pieces is whole', () => {
  const lines = new WholeLines();
  const bytes = Buffer.from('é\n');
  lines.push(bytes.subarray(0, 1), redact);
  expect(lines.push(bytes.subarray(1), redact)).toBe('é\n');
});

it('a line without end is cut, and no half of a secret is left at the cut', () => {
  const lines = new WholeLines();
  lines.push(Buffer.from(`${'x'.repeat(8_186)}plum-pudding${'y'.repeat(100_000)}`), redact);
  const text = lines.push(Buffer.from('\n'), redact);
  expect(text).toBe(`${'x'.repeat(8_186)}***yyy…\n`);
});
