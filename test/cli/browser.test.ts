import { describe, expect, it } from 'vitest';
import { browserCommand, openable } from '../../src/cli/browser.ts';

describe('An address for the browser', () => {
  it.each([
    ['https://as.example/authorize?a=b&c=d%20e', null],
    ['http://localhost:4000/authorize', null],
    ['http://127.0.0.1:4000/authorize', null],
    ['http://[::1]:4000/authorize', null],
    ['http://as.example/authorize', /neither https/],
    ['http://localhost.example/', /neither https/],
    ['javascript:alert(1)', /neither https/],
    ['file:///etc/passwd', /neither https/],
    ['https://a:b@as.example/', /user name/],
    ['https://as.example/" & calc', /not a web address/],
    ['https://as.example/`id`', /not a web address/],
    ['--version', /not a web address/],
  ])('%s', (url, wrong) => {
    if (wrong === null) expect(openable(url)).toBeNull();
    else expect(openable(url)).toMatch(wrong);
  });

  it.each<[string, Record<string, string>, NodeJS.Platform, boolean, object | null]>([
    ['the program that BROWSER names', { BROWSER: 'firefox' }, 'linux', false, { command: 'firefox', args: [] }],
    ['nothing when BROWSER says none', { BROWSER: 'none', DISPLAY: ':0' }, 'linux', true, null],
    ['xdg-open on a desktop', { DISPLAY: ':0' }, 'linux', true, { command: 'xdg-open', args: [] }],
    ['nothing without a desktop', {}, 'linux', true, null],
    ['nothing where nobody sits', { DISPLAY: ':0' }, 'linux', false, null],
    ['open on macOS', {}, 'darwin', true, { command: 'open', args: [] }],
    ['no shell on Windows', {}, 'win32', true, { command: 'rundll32', args: ['url.dll,FileProtocolHandler'] }],
  ])('is opened by %s', (_by, env, platform, attended, command) => {
    expect(browserCommand(env, platform, attended)).toEqual(command);
  });
});
