/** Does what the model asks for: through the API, and on the terminal. Whatever comes of it is a message. */
import type { Client } from '../api/client.ts';
import { isApiError } from '../api/errors.ts';
import { loader } from './loads.ts';
import { loginRunner } from './login.run.ts';
import type { Command, Message } from './model.ts';

export interface Surroundings {
  readonly api: Client;
  now(): number;
  hear(message: Message): void;
  /** Resolves with whether a browser was started. */
  openBrowser(url: string): Promise<boolean>;
  copy(text: string): void;
  ring(): void;
  /** Gives the terminal to the shell until the program is gone on with. */
  suspend(): void;
  leave(): void;
}

const textOf = (error: unknown): string => {
  if (isApiError(error)) return error.next ? `${error.detail} ${error.next}` : error.detail;
  return error instanceof Error ? error.message : String(error);
};

/** Returns the function that carries a command out. It never throws. */
export function shell(around: Surroundings): (command: Command) => void {
  const { api, hear } = around;
  const loads = loader(api, hear, around.now);
  const login = loginRunner(api, hear);
  const say = (text: string, tone: 'good' | 'bad' | 'quiet' = 'good'): void => hear({ kind: 'said', text, tone });

  const act = async (command: Command): Promise<void> => {
    switch (command.do) {
      case 'reconnect': {
        const { ok, servers } = await api.reconnect(command.name === null ? {} : { name: command.name });
        const failed = servers.filter((server) => !server.ok).map(({ name }) => name);
        if (ok) say(command.name === null ? 'All servers are ready.' : `${command.name} is ready.`);
        else say(`Not ready: ${failed.join(', ')}.`, 'bad');
        return;
      }
      case 'enable':
        await api.enableServer(command.name);
        return say(`${command.name} is enabled.`);
      case 'disable':
        await api.disableServer(command.name);
        return say(`${command.name} is disabled; x enables it again.`);
      case 'remove':
        await api.removeServer(command.name);
        return hear({ kind: 'removed', name: command.name });
      case 'log-out':
        await api.logOut(command.name);
        hear({ kind: 'config', answer: await api.config() });
        return say(`Logged out of ${command.name}.`);
      case 'grant': {
        const { tool } = await api.replaceGrants(`mcp__${command.name}__`, command.entries);
        return hear({ kind: 'granted', name: command.name, entries: tool.entries });
      }
      case 'try': {
        const {
          ok,
          tools = [],
          error,
          stderr = '',
        } = await api.testServer(command.entry, command.replaces ? command.name : undefined);
        const trial = { ok, tools: tools.map(({ name }) => name), error: error?.message ?? null, stderr };
        return hear({ kind: 'tried', name: command.name, trial });
      }
      case 'save':
        await api.addServer(command.name, command.entry);
        return hear({ kind: 'saved', name: command.name, oauth: command.entry.auth === 'oauth' && !command.replaces });
      case 'approve': {
        await api.approve(command.id, command.remember);
        const words = {
          once: 'It runs once.',
          tool: 'It runs, and this tool asks no more.',
          server: 'It runs, and the whole server asks no more.',
        };
        return say(`Approved. ${words[command.remember]}`);
      }
      case 'deny':
        await api.deny(command.id, command.reason === '' ? undefined : command.reason);
        return say('Denied.');
      case 'log-in':
        return login.start(command.name);
      case 'end-login':
        return login.end();
      case 'paste-callback':
        await api.pasteCallback(command.name, command.url);
        return;
      case 'give-client': {
        const { name, id, secret, redirect } = command;
        const given = await api.giveClient(name, {
          id,
          secret: secret || undefined,
          redirectUri: redirect || undefined,
        });
        return hear({ kind: 'client-given', name, redirect: given.redirect_uri });
      }
      case 'open':
        if (!(await around.openBrowser(command.url)))
          say('No browser can be started here: open the address by hand.', 'bad');
        return;
      case 'copy':
        around.copy(command.text);
        return say('Copied, if the terminal lets programs do that.', 'quiet');
      case 'ring':
        return around.ring();
      case 'suspend':
        return around.suspend();
      case 'leave':
        login.end();
        return around.leave();
      default:
        return loads.load(command);
    }
  };
  return (command) => {
    act(command).catch((error: unknown) => {
      say(textOf(error), 'bad');
      if (command.do === 'approve' || command.do === 'deny') loads.load({ do: 'load-held' });
    });
  };
}
