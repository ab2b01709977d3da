/** Runs one login at a time: a second one ends the first. */
import type { Client } from '../api/client.ts';
import type { Message } from './model.ts';

export interface LoginRunner {
  start(name: string): Promise<void>;
  end(): void;
}

export function loginRunner(api: Client, hear: (message: Message) => void): LoginRunner {
  let current = new AbortController();
  const end = (): void => {
    current.abort();
    current = new AbortController();
  };
  return {
    end,
    async start(name) {
      end();
      const { signal } = current;
      try {
        for await (const frame of api.login(name, { signal })) {
          if (signal.aborted) return;
          if ('url' in frame) hear({ kind: 'login-url', name, url: frame.url });
          else {
            const trouble = frame.reconnect_error ? ` It is not ready yet: ${frame.reconnect_error}` : '';
            const text = frame.ok ? `Logged in to ${name}.${trouble}` : (frame.error ?? 'The login did not succeed.');
            hear({ kind: 'login-over', name, ok: frame.ok, text });
          }
        }
      } catch (error) {
        if (signal.aborted) return;
        hear({ kind: 'login-over', name, ok: false, text: error instanceof Error ? error.message : String(error) });
      }
    },
  };
}
