import { expect, it } from 'vitest';
import { Noise } from '../../src/mcp/noise.ts';

it('warns of the first line, then once a minute with the number of lines', () => {
  let now = 5;
  const warnings: string[] = [];
  const noise = new Noise(
    (warning) => warnings.push(warning),
    () => now,
  );
  for (let n = 0; n < 1_000; n += 1) noise.heard(() => `line ${n}`);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/: line 0$/);
  now += 60_000;
  noise.heard(() => 'x'.repeat(500));
  expect(warnings).toHaveLength(2);
  expect(warnings[1]).toContain('(1000 lines since the last warning)');
  expect(warnings[1]).toMatch(/: x{120}…$/);
});
