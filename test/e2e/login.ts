/** What the tests of logins share: a login by the route, with somebody who plays the browser. */

import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Daemon } from '../support/daemon.ts';

export interface LoginStream {
  /** The first frame; rejects when the login ends without one. */
  readonly url: Promise<string>;
  readonly done: Promise<any>;
  /** All that was sent, frames and comments. */
  text(): string;
  leave(): void;
}

/** `GET /v1/mcp/oauth`, read as it comes. */
export function loginStream(daemon: Daemon, name: string): LoginStream {
  const left = new AbortController();
  let text = '';
  let show: (url: string) => void = () => {};
  let none: (error: Error) => void = () => {};
  const url = new Promise<string>((resolve, reject) => {
    show = resolve;
    none = reject;
  });
  url.catch(() => {});
  const read = async (): Promise<any> => {
    const answer = await fetch(`${daemon.url}/v1/mcp/oauth?name=${name}`, {
      headers: { authorization: `Bearer ${daemon.token}` },
      signal: left.signal,
    });
    if (!answer.ok || answer.body === null) throw new Error(`${answer.status}: ${await answer.text()}`);
    for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (const [, data = ''] of text.matchAll(/^data: (.*)$/gm)) {
        const frame = JSON.parse(data);
        if (frame.url) show(frame.url);
        if (frame.done) return frame;
      }
    }
    throw new Error(`The stream ended without an end of the login: ${text}`);
  };
  const done = read();
  done.then(
    (frame) => none(new Error(`The login ended before there was an address: ${JSON.stringify(frame)}`)),
    (error) => none(error),
  );
  done.catch(() => {});
  return { url, done, text: () => text, leave: () => left.abort() };
}

/** Logs in, with the browser that comes back by itself. */
export async function logIn(
  daemon: Daemon,
  name: string,
  browser: { browse(url: string): Promise<{ status: number; text: string }> },
): Promise<any> {
  const login = loginStream(daemon, name);
  await browser.browse(await login.url);
  return login.done;
}

/**
 * A port nobody listens on, on either family. Below those that systems give to outgoing connections, one of which could
 * take it before the daemon does.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if ((await isFree('127.0.0.1', port)) && (await isFree('::1', port))) return port;
  }
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    // A family that the machine lacks is in nobody's way.
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'EADDRINUSE'));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

/** The bytes of every file below a folder, as text. */
export function textOfFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
}
