import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from '../support/paths.ts';

it('the connection to a server loads the official package only when the first one is opened', () => {
  const folder = join(projectRoot, 'src/mcp');
  const loaders = readdirSync(folder).filter((file) => {
    const source = readFileSync(join(folder, file), 'utf8');
    return /^import (?!type\b)[^;]*from '@modelcontextprotocol\/client'/m.test(source);
  });
  expect(loaders).toEqual([]);
});
