/** What listing, calling and pushing share of one connection: its wire, what was agreed, and how it is lost. */
import type { Failure, Phase } from '../events/shapes.ts';
import type { Agreement } from './connection.ts';
import { errorRefusesSession, failureOf, type Observation, refusesSession } from './failure.ts';
import type { Answer, Wire } from './wire.ts';

export class Link {
  /** Resolves when the connection ended without being closed. */
  readonly lost: Promise<Failure>;
  /** The failure it was lost with. */
  failure: Failure | null = null;
  closed = false;
  #lose: (failure: Failure) => void = () => {};

  constructor(
    readonly wire: Wire,
    readonly agreement: Agreement,
    readonly redact: (text: string) => string,
  ) {
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
  }

  fail(phase: Phase, observation: Observation): Failure {
    return failureOf(phase, observation, this.redact);
  }

  /** Once, and not after `close`. */
  lose(failure: Failure): void {
    if (this.closed || this.failure !== null) return;
    this.failure = failure;
    this.#lose(failure);
  }

  /**
   * The refusal of the session that an answer is, if it is one, for whatever request it came. Only the legacy era has
   * sessions, and only over HTTP; in the modern era a 404 means an unknown method.
   */
  sessionRefusal(answer: Answer): Observation | null {
    const { era, transport, session } = this.agreement;
    if (era === 'modern' || transport === 'stdio') return null;
    if (answer.kind === 'error') {
      const { code, message } = answer.error;
      return errorRefusesSession(code, String(message))
        ? { seen: 'session-refused', status: null, text: String(message) }
        : null;
    }
    if (answer.kind !== 'fault' || answer.observation.seen !== 'status') return null;
    const { status, text } = answer.observation;
    // The older transport carries its session in the URL of the endpoint.
    return refusesSession(status, text, session || transport === 'sse')
      ? { seen: 'session-refused', status, text }
      : null;
  }

  /**
   * What an answer says about the connection as a whole, for any request: a refused session, a server nobody listens
   * for any more, a login that ended. Everything else concerns that one request.
   */
  noteLoss(phase: Phase, answer: Answer): void {
    const refusal = this.sessionRefusal(answer);
    if (refusal !== null) {
      this.lose(this.fail(phase, refusal));
      return;
    }
    if (answer.kind !== 'fault') return;
    const { observation, sent } = answer;
    if (observation.seen === 'login' || (observation.seen === 'status' && observation.status === 401))
      this.lose(this.fail(phase, observation));
    // Refused without having been sent: whoever signs requests could not, so none can be sent for now.
    if (!sent && (observation.seen === 'status' || observation.seen === 'daemon'))
      this.lose(this.fail(phase, observation));
    if (observation.seen !== 'network' || sent || observation.code === 'ABORT_ERR') return;
    const failure = this.fail(phase, observation);
    if (failure.class !== 'overload') this.lose(failure);
  }
}
