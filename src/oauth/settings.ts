/** What logins need to know of the daemon around them. */
import type { OauthSettings } from '../config/entry.ts';
import type { LoginFact } from '../events/login.events.ts';

/** A server people log in to, with its placeholders replaced. */
export interface LoginServer {
  readonly name: string;
  /** The address as requests are sent to it. */
  readonly url: string;
  /** Configured headers go with the question whether a login is wanted, as they go with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Hash of the address as written: credentials belong to the name and this. */
  readonly identity: string;
  readonly clientName: string | undefined;
  readonly oauth: OauthSettings;
}

/** Writes a fact down; resolves once it is committed. What is told to a person or shown in a browser comes after that. */
export type Note = (fact: LoginFact) => Promise<unknown>;
