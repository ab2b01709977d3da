/** Why a login or a renewal did not succeed, in words that hold no secret. */
import type { Observation } from '../mcp/failure.ts';

/** The login as a whole ends; the message is for the person who wanted it. */
export class LoginError extends Error {
  override readonly name = 'LoginError';
}

/** An authorization server that does not answer as it should. It may pass: nothing is forgotten because of it. */
export class ServerTrouble extends LoginError {
  constructor(
    message: string,
    readonly observation: Observation,
  ) {
    super(message);
  }
}

/** The authorization server said no, with one of the codes of OAuth (`invalid_grant`, `invalid_client`…). */
export class Refused extends LoginError {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}
