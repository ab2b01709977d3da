/** A login as the daemon tells of it: frames of an event stream, until it has ended. */
import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import type { loginFrame } from '../http/contract.oauth.ts';
import { DaemonUnreachable } from './errors.ts';
import { frameReader } from './event.stream.ts';

export type LoginFrame = z.infer<typeof loginFrame>;

/** The daemon sends a comment every 15 s; without one for this long the connection is dead. */
const silenceMs = 45_000;

/** Yields what comes, the end included; throws DaemonUnreachable when the daemon breaks off before it. */
export async function* readLogin(message: IncomingMessage): AsyncGenerator<LoginFrame, void> {
  const frames = frameReader();
  message.setEncoding('utf8');
  message.setTimeout(silenceMs, () => message.destroy());
  try {
    for await (const text of message) {
      for (const { data } of frames(text as string)) {
        const frame = JSON.parse(data) as LoginFrame;
        yield frame;
        if ('done' in frame) return;
      }
    }
  } catch (cause) {
    throw new DaemonUnreachable('The daemon broke off in the middle of the login.', { cause });
  }
  throw new DaemonUnreachable('The daemon broke off in the middle of the login.');
}
