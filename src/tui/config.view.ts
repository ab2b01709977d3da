/** The entry of a server with its secrets hidden, and its login, drawn. Pure. */
import { foreignLines, type Line, line, span } from './line.ts';
import type { Model, ServerScreen } from './model.ts';

function entryLines({ entries, columns }: Model, { name, at }: ServerScreen): readonly Line[] {
  const entry = entries[name];
  if (entry === undefined) return [line(' It has no entry in mcp.json now.', 'quiet')];
  const text = JSON.stringify({ [name]: entry }, null, 2);
  return [
    line(' Its entry in mcp.json. Secrets are shown as ***; e changes it and keeps them.', 'quiet'),
    ...(at === null ? [] : [line(' This is the entry as it is now, not as it was then.', 'warn')]),
    [],
    ...foreignLines(text, columns - 4).map((one): Line => [span('   '), ...one]),
  ];
}

function loginLines({ tokens }: Model, name: string): readonly Line[] {
  const stored = tokens[name] === true;
  return [
    [
      span(' '),
      stored ? span('● logged in', 'good') : span('○ not logged in', 'warn'),
      span(stored ? ': a token is stored.' : ': no token is stored.'),
    ],
    [],
    [span('   l', 'accent'), span(stored ? '  log in anew, in the browser' : '  log in, in the browser')],
    [span('   o', 'accent'), span('  log out: delete the token')],
    [span('   c', 'accent'), span('  give a client that you registered with the provider yourself (id, secret)')],
  ];
}

export function configView(model: Model, screen: ServerScreen): readonly Line[] {
  return screen.tab === 'config' ? entryLines(model, screen) : loginLines(model, screen.name);
}
