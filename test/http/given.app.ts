import { onTestFinished } from 'vitest';
import { type AppOptions, buildApp } from '../../src/http/app.ts';
import { type FakeKeeper, fakeKeeper } from './fake.keeper.ts';

export const token = 'correct-token';
export const port = 17_987;
export const host = `127.0.0.1:${port}`;
export const signedIn = { host, authorization: `Bearer ${token}` };

/** An app in front of a fake keeper; `errors` is what it logged. */
export async function givenApp(options: Partial<AppOptions> = {}) {
  const keeper: FakeKeeper = fakeKeeper();
  const errors: object[] = [];
  const app = await buildApp({
    keeper,
    token: () => token,
    port: () => port,
    allowedHosts: [],
    log: { error: (what) => errors.push(what) },
    ...options,
  });
  onTestFinished(() => app.close());
  return { app, keeper, errors };
}
