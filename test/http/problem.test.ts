import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { problem } from '../../src/http/contract.ts';
import { Problem, type ProblemCode, problems } from '../../src/http/problem.ts';

const folder = new URL('../../docs/errors/', import.meta.url);
const page = (code: string): string => readFileSync(new URL(`${code}.md`, folder), 'utf8');
const codes = Object.keys(problems) as ProblemCode[];

describe('The catalogue of problems', () => {
  it('has a page for every kind, and no page for anything else', () => {
    const pages = readdirSync(folder).map((file) => file.replace(/\.md$/, ''));
    expect(pages.toSorted()).toEqual(codes.toSorted());
  });

  it.each(codes)('explains %s: what happened, why, and what to do', (code) => {
    const text = page(code);
    expect(text.startsWith(`# ${problems[code].title}\n\n\`${code}\`, status ${problems[code].status}\n`)).toBe(true);
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['What happened', 'Why', 'What to do']);
  });

  it.each(codes)('names %s in kebab case with a client or server error', (code) => {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(problems[code].status).toBeGreaterThanOrEqual(400);
    expect(problems[code].status).toBeLessThan(600);
    expect(problems[code].next).toMatch(/\.$/);
  });

  // Others rely on these; a change here is a change of the contract.
  it('keeps the status of each kind', () => {
    const byStatus = Object.fromEntries(codes.map((code) => [code, problems[code].status]));
    expect(byStatus).toEqual({
      'call-not-open': 409,
      'oauth-not-enabled': 409,
      'no-login-waiting': 409,
      'credentials-unavailable': 503,
      'invalid-request': 400,
      'entry-invalid': 400,
      'prefix-invalid': 400,
      unauthorized: 401,
      'forbidden-host': 403,
      'forbidden-origin': 403,
      'forbidden-client': 403,
      'mode-above-ceiling': 403,
      'call-refused': 403,
      'call-denied': 403,
      'call-expired': 403,
      'not-found': 404,
      'unknown-server': 404,
      'unknown-tool': 404,
      'unknown-call': 404,
      'not-recorded': 404,
      'method-not-allowed': 405,
      'call-not-held': 409,
      'call-cancelled': 409,
      'server-built-in': 409,
      'server-disabled': 409,
      'config-invalid': 409,
      'config-locked': 409,
      'body-too-large': 413,
      'unsupported-media-type': 415,
      internal: 500,
      'call-rejected': 502,
      'server-lost': 502,
      'config-unreadable': 503,
      'log-unavailable': 503,
      'recording-unavailable': 503,
      'server-not-connected': 503,
      'shutting-down': 503,
      'call-timeout': 504,
    });
  });
});

describe('A problem', () => {
  it('says the same in `error` as in `detail`, and carries what belongs to it', () => {
    const body = new Problem('server-lost', 'The server was lost.', { call: 'c1', outcome: 'unknown' }).body();
    expect(problem.parse(body)).toMatchObject({
      type: '/docs/errors/server-lost',
      code: 'server-lost',
      status: 502,
      detail: 'The server was lost.',
      error: 'The server was lost.',
      call: 'c1',
      outcome: 'unknown',
    });
  });

  it('does not let a member take the place of one of its own', () => {
    expect(new Problem('unknown-call', 'No such call.', { status: 200, type: 'x' }).body()).toMatchObject({
      type: '/docs/errors/unknown-call',
      status: 404,
    });
  });
});
