import { describe, expect, it } from 'vitest';
import type { Mcp } from '../../src/http/routes/mcp.ts';
import { token } from './given.app.ts';
import { ask, givenServer, textOf } from './given.server.ts';

/** An endpoint that says what reached it. */
const mirror: Mcp = {
  handle(_request, response, server, { client, door }) {
    response.end(JSON.stringify({ server: server ?? null, client, door }));
  },
};

const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

describe('A request to the endpoint', () => {
  it.each([
    ['POST', '/mcp', null],
    ['POST', '/mcp/one', 'one'],
    ['POST', '/mcp/two?x=1', 'two'],
    ['GET', '/mcp', null],
    ['DELETE', '/mcp/one', 'one'],
  ])('%s %s reaches it with its server and its caller', async (method, path, server) => {
    const given = await givenServer({ mcp: mirror });
    const answer = await ask(given, { method, path, headers, ...(method === 'POST' ? { body } : {}) });
    expect(JSON.parse(await textOf(answer))).toEqual({ server, client: 'main', door: 'http' });
  });

  it.each([
    ['without a token', { authorization: '' }, 401],
    ['with a wrong token', { authorization: 'Bearer no' }, 401],
    ['for another host', { host: 'evil.example' }, 403],
    ['from a web page', { origin: 'https://evil.example' }, 403],
    ['that is not JSON', { 'content-type': 'text/plain' }, 415],
  ])('%s is refused as on every other route', async (_what, wrong, status) => {
    const given = await givenServer({ mcp: mirror });
    const answers = await Promise.all(
      ['/mcp', '/mcp/one', '/v1/mcp/call'].map(async (path) => {
        const answer = await ask(given, { method: 'POST', path, headers: { ...headers, ...wrong }, body });
        const { date: _, ...said } = answer.headers;
        return { status: answer.statusCode, said, text: await textOf(answer) };
      }),
    );
    expect(answers.map((one) => one.status)).toEqual([status, status, status]);
    expect(answers[0]).toEqual(answers[2]);
    expect(answers[1]).toEqual(answers[2]);
  });

  it.each(['/mcp/a/b', '/mcpx', '/mcp/one/'])('%s is not taken for one', async (path) => {
    const given = await givenServer({ mcp: mirror });
    const answer = await ask(given, { method: 'POST', path, headers, body });
    expect(answer.statusCode).toBe(404);
  });
});
