/** The entry of a server with its secrets hidden, and its login, drawn. Pure. */
import { foreignLines, type Line, line, span } from './line.ts';
import type { Model, ServerScreen } from './model.ts';
import { isOauth } from './server.keys.ts';

function entryLines({ entries, columns }: Model, name: string): readonly Line[] {
  const entry = entries[name];
  if (entry === undefined) return [line(' It has no entry in mcp.json now.', 'quiet')];
  const text = JSON.stringify({ [name]: entry }, null, 2);
  return [
    line(' Its entry in mcp.json. Secrets are shown as ***; e changes it and keeps them.', 'quiet'),
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

export function configView(model: Model, { name, tab }: ServerScreen): readonly Line[] {
  if (tab === 'config') return entryLines(model, name);
  if (isOauth(model, name)) return loginLines(model, name);
  return [line(' It needs no login: its entry does not say "auth": "oauth".', 'quiet')];
}
