import { describe, expect, it } from 'vitest';
import { type Expected, judgeCallback } from '../../src/oauth/callback.verdict.ts';
import { page } from '../../src/oauth/pages.ts';

const issuer = 'https://as.example';
const waiting: Record<string, Expected> = {
  plain: { issuer, sendsIssuer: false },
  strict: { issuer, sendsIssuer: true },
};
const judged = (query: string) => judgeCallback(new URLSearchParams(query), (state) => waiting[state]);
const iss = encodeURIComponent(issuer);

describe('A hit on the callback address', () => {
  it.each([
    ['', /no `state`/],
    ['code=c', /no `state`/],
    ['state=&code=c', /no `state`/],
    ['error=access_denied', /no `state`/],
    ['state=forged&code=c', /no login that waits/],
    ['state=plain&state=strict&code=c', /more than once/],
    ['state=plain&code=c&code=d', /more than once/],
    ['state=plain&code=c&error=x&error=y', /more than once/],
    [`state=plain&code=c&iss=${iss}&iss=${iss}`, /more than once/],
    ['state=plain', /neither/],
    ['state=plain&code=', /neither/],
  ])('"%s" changes nothing', (query, why) => {
    expect(judged(query)).toEqual({ kind: 'stray', why: expect.stringMatching(why) });
  });

  it.each([
    ['state=plain&code=c', { kind: 'code', state: 'plain', code: 'c' }],
    [`state=plain&code=c&iss=${iss}`, { kind: 'code' }],
    [`state=strict&code=c&iss=${iss}`, { kind: 'code' }],
    ['state=strict&code=c', { kind: 'mixed-up' }],
    [`state=strict&code=c&iss=${iss}%2F`, { kind: 'mixed-up' }],
    ['state=plain&code=c&iss=https%3A%2F%2Fevil.example', { kind: 'mixed-up' }],
    ['state=plain&code=c&iss=', { kind: 'mixed-up' }],
    ['state=plain&error=access_denied', { kind: 'refused', error: 'access_denied' }],
    ['state=plain&error=access_denied&code=c', { kind: 'refused' }],
    ['state=plain&error=<script>', { kind: 'refused', error: 'an error it does not name' }],
    ['state=strict&error=access_denied', { kind: 'mixed-up' }],
  ])('"%s" is meant for the login', (query, verdict) => {
    expect(judged(query)).toMatchObject(verdict);
  });

  it('is answered by a page that holds nothing from outside and loads nothing', () => {
    for (const ending of ['done', 'failed', 'stray', 'over'] as const)
      expect(page(ending)).not.toMatch(/<(?:script|img|link|style)|https?:|src=|href=/);
  });
});
