import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import { type AppOptions, buildApp } from '../../src/http/app.ts';
import { type Served, type ServeOptions, serve } from '../../src/http/serve.ts';
import { type FakeKeeper, fakeKeeper } from './fake.keeper.ts';
import { token } from './given.app.ts';

export interface GivenServer extends Served {
  readonly keeper: FakeKeeper;
  readonly errors: object[];
}

type Options = Partial<
  Omit<ServeOptions, 'app' | 'onError'> & Pick<AppOptions, 'streamLimits' | 'allowedHosts' | 'mcp'>
>;

/** A server on a free port in front of a fake keeper. */
export async function givenServer({
  streamLimits,
  allowedHosts = [],
  mcp,
  ...where
}: Options = {}): Promise<GivenServer> {
  const keeper = fakeKeeper();
  const errors: object[] = [];
  let port = 0;
  const app = await buildApp({
    keeper,
    token: () => token,
    port: () => port,
    allowedHosts,
    log: { error: (what) => errors.push(what) },
    ...(streamLimits ? { streamLimits } : {}),
    ...(mcp ? { mcp } : {}),
  });
  const onError = (error: Error) => errors.push(error);
  const served = await serve({ app, host: '127.0.0.1', port: 0, socket: null, allowRemote: false, onError, ...where });
  port = served.port;
  onTestFinished(() => served.close(0));
  return Object.assign(served, { keeper, errors });
}

/** One request by plain `node:http`; resolves when the headers are there. */
export function ask(
  target: { port: number } | { socketPath: string },
  options: { method?: string; path: string; headers?: Record<string, string>; body?: string; signal?: AbortSignal },
): Promise<IncomingMessage> {
  const { body, ...rest } = options;
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', ...target, agent: false, ...rest }, resolve);
    sent.on('error', reject).end(body);
  });
}

export async function textOf(message: IncomingMessage): Promise<string> {
  message.setEncoding('utf8');
  let text = '';
  for await (const chunk of message) text += chunk;
  return text;
}

/** Sends bytes as they are and resolves with all that comes back. */
export function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', reject).on('close', () => resolve(text));
  });
}

export interface Frame {
  readonly id?: string;
  readonly event?: string;
  readonly data: any;
}

/** Reads frames of an event stream one at a time; comments are counted. */
export function framesOf(message: IncomingMessage) {
  message.setEncoding('utf8');
  const comments: string[] = [];
  const frames = (async function* (): AsyncGenerator<Frame, void> {
    let rest = '';
    for await (const chunk of message) {
      const parts = (rest + chunk).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        if (part.startsWith(':')) comments.push(part);
        else {
          const fields = Object.fromEntries(
            part.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]),
          );
          yield { ...fields, data: JSON.parse(fields.data ?? 'null') };
        }
      }
    }
  })();
  return {
    comments,
    next: async (): Promise<Frame | null> => (await frames.next()).value ?? null,
    take: async (count: number): Promise<Frame[]> => {
      const taken: Frame[] = [];
      while (taken.length < count) {
        const { value, done } = await frames.next();
        if (done || !value) break;
        taken.push(value);
      }
      return taken;
    },
  };
}
