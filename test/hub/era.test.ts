import { describe, expect, it } from 'vitest';
import { classify } from '../../src/hub/era.ts';

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const request = (method: string, params?: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });
const modern = (method: string, params: object = {}) => request(method, { ...params, _meta: envelope });
const headers = (method: string, name?: string) => ({ version: '2026-07-28', method, name });
const none = { version: undefined, method: undefined, name: undefined };

describe('a POST is modern', () => {
  it.each([
    ['a request with the envelope', modern('tools/list'), headers('tools/list')],
    ['one whose name a header repeats', modern('tools/call', { name: 'a' }), headers('tools/call', ' a ')],
    ['one whose name is wrapped', modern('tools/call', { name: 'ä' }), headers('tools/call', '=?base64?w6Q=?=')],
    ['initialize with the envelope', modern('initialize'), headers('initialize')],
    [
      'a notification with the header',
      { jsonrpc: '2.0', method: 'notifications/x', params: {} },
      headers('notifications/x'),
    ],
  ])('%s', (_what, body, given) => {
    expect(classify(body, given)).toMatchObject({ kind: 'modern' });
  });
});

describe('a POST is legacy', () => {
  it.each([
    ['initialize', request('initialize', { protocolVersion: '2025-11-25' }), none],
    [
      'initialize with half an envelope',
      request('initialize', { _meta: { ...envelope, 'io.modelcontextprotocol/clientCapabilities': 1 } }),
      none,
    ],
    ['a request without the envelope', request('tools/list'), { ...none, version: '2025-06-18' }],
    ['a response', { jsonrpc: '2.0', id: 1, result: {} }, none],
    ['a batch', [request('ping'), request('tools/list', {}, 2)], none],
  ])('%s', (_what, body, given) => {
    expect(classify(body, given)).toMatchObject({ kind: 'legacy' });
  });
});

describe('a POST is refused with 400', () => {
  const without = (key: string) =>
    request('tools/list', {
      _meta: Object.fromEntries(Object.entries(envelope).filter(([name]) => !name.endsWith(key))),
    });
  it.each([
    ['for no message at all', { hello: 1 }, none, -32600],
    ['for an empty batch', [], none, -32600],
    ['for a batch of modern requests', [modern('tools/list')], none, -32600],
    ['for an id that is null', request('tools/list', {}, null), none, -32600],
    ['for an envelope without a revision', without('protocolVersion'), headers('tools/list'), -32602],
    ['for an envelope without capabilities', without('clientCapabilities'), headers('tools/list'), -32602],
    ['for no envelope under a modern header', request('tools/list', {}), headers('tools/list'), -32602],
    [
      'for a header of another revision',
      modern('tools/list'),
      { ...headers('tools/list'), version: '2025-11-25' },
      -32020,
    ],
    ['for a missing revision header', modern('tools/list'), { ...headers('tools/list'), version: undefined }, -32020],
    ['for a missing method header', modern('tools/list'), { ...none, version: '2026-07-28' }, -32020],
    ['for another method in the header', modern('tools/list'), headers('Tools/List'), -32020],
    ['for a missing name header', modern('tools/call', { name: 'a' }), headers('tools/call'), -32020],
    [
      'for another name in the header',
      modern('resources/read', { uri: 'a:b' }),
      headers('resources/read', 'a:c'),
      -32020,
    ],
    [
      'for a name that is not base64',
      modern('tools/call', { name: 'a' }),
      headers('tools/call', '=?base64?YQ?='),
      -32020,
    ],
    ['for initialize under a modern header', request('initialize', {}), headers('initialize'), -32020],
  ])('%s', (_what, body, given, code) => {
    expect(classify(body, given)).toMatchObject({ kind: 'rejected', status: 400, error: { code } });
  });

  it('with the revisions it knows for one it does not', () => {
    const body = request('tools/list', {
      _meta: { ...envelope, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' },
    });
    expect(classify(body, { ...headers('tools/list'), version: '2099-01-01' })).toMatchObject({
      id: 1,
      error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2099-01-01' } },
    });
  });
});
