/** What a person sees in the browser at the end. Nothing in it comes from outside, and nothing is loaded. */

export type Ending = 'done' | 'failed' | 'stray' | 'over';

const words: Readonly<Record<Ending, readonly [title: string, text: string]>> = {
  done: ['Logged in', 'You can close this page.'],
  failed: ['The login did not succeed', 'Watchkeeper says why, where the login was started. You can close this page.'],
  stray: ['This address belongs to no login that waits', 'Start the login again, and use the address it gives.'],
  over: ['This login is over', 'You can close this page.'],
};

export const statusOf = (ending: Ending): number => (ending === 'done' || ending === 'over' ? 200 : 400);

export function page(ending: Ending): string {
  const [title, text] = words[ending];
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><body><h1>${title}</h1><p>${text}</p></body></html>\n`;
}

export const pageHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
};
