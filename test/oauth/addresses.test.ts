import { describe, expect, it } from 'vitest';
import { checkUrl, forbiddenAddress, isLoopback } from '../../src/oauth/addresses.ts';

const own = { ownPorts: [17_987], ownAddresses: ['192.0.2.7', '2001:db8::7', 'fe80::7%eth0'] };
const remote = { local: false, ...own };
const local = { local: true, ...own };

describe('An address that a server names', () => {
  it.each([
    'https://as.example',
    'https://as.example:8443/tenant?x=1',
    'https://10.0.0.7/as',
    'https://[2001:db8::1]/as',
    'https://as.localhost.example',
  ])('may be used by any server: %s', (url) => {
    expect(checkUrl(url, remote)).toMatchObject({ ok: true });
  });

  it.each([
    'http://localhost:4000/as',
    'http://127.0.0.1:4000',
    'http://[::1]:4000',
    'https://app.localhost',
    'https://192.0.2.7/as',
    'https://[::ffff:192.0.2.7]/as',
    'https://[2001:DB8:0::7]:8443/as',
  ])('may be used by a server on this machine alone: %s', (url) => {
    expect(checkUrl(url, local)).toMatchObject({ ok: true });
    expect(checkUrl(url, remote)).toEqual({
      ok: false,
      reason: 'leads to this machine, although the server is elsewhere',
    });
  });

  it.each([
    ['http://as.example', /not encrypted/],
    ['http://10.0.0.7', /not encrypted/],
    ['http://localhost.example', /not encrypted/],
    ['https://user@as.example', /user name/],
    ['https://:pass@as.example', /user name/],
    ['javascript:alert(1)', /javascript:/],
    ['file:///etc/passwd', /file:/],
    ['data:text/html,x', /data:/],
    ['https://169.254.169.254/latest', /link-local/],
    ['https://[fe80::1]/', /link-local/],
    ['https://[::ffff:169.254.1.1]/', /link-local/],
    ['https://[64:ff9b::a9fe:a9fe]/', /link-local/],
    ['https://0.0.0.0/', /of nobody/],
    ['https://[::]/', /of nobody/],
    ['https://224.0.0.1/', /multicast/],
    ['https://255.255.255.255/', /reserved/],
    ['https://[ff02::1]/', /multicast/],
    ['https://2852039166/', /link-local/],
    ['https://0xa9.0xfe.0xa9.0xfe/', /link-local/],
    ['http://localhost:17987/v1/mcp', /this daemon itself/],
    ['http://127.0.0.1:17987/', /this daemon itself/],
    ['https://192.0.2.7:17987/', /this daemon itself/],
    ['https://[2001:db8::7]:17987/', /this daemon itself/],
    ['https://as.example/\nx', /characters/],
    ['https://as.example\\@evil.example', /characters/],
    [' https://as.example', /characters/],
    ['as.example', /not a web address/],
    [`https://as.example/${'x'.repeat(9_000)}`, /too long/],
  ])('is refused with the reason: %s', (url, reason) => {
    expect(checkUrl(url, local)).toEqual({ ok: false, reason: expect.stringMatching(reason) });
  });

  it.each([
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['::1', true],
    ['[::1]', true],
    ['::ffff:127.0.0.1', true],
    ['localhost', true],
    ['LOCALHOST.', true],
    ['128.0.0.1', false],
    ['localhost.example', false],
    ['::2', false],
  ])('%s is this machine: %s', (name, here) => {
    expect(isLoopback(name)).toBe(here);
  });

  it.each([
    ['192.168.1.1', null],
    ['as.example', null],
    ['fe80::1%eth0', 'a link-local address'],
    ['::ffff:a9fe:1', 'a link-local address'],
    ['1:2:3', 'an address that cannot be read'],
  ])('%s, as a name leads to it, is %s', (address, words) => {
    expect(forbiddenAddress(address)).toBe(words);
  });
});
