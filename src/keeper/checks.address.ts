/** What an address needs: a name that resolves, a port that answers, a certificate, an HTTP answer, a clock that agrees. */
import { lookup } from 'node:dns/promises';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Check } from '../replay/verdict.ts';
import { fine, type Look, wrong } from './checks.ts';

export interface AddressLook {
  readonly url: URL;
  /** The server is connected at the moment: what the endpoint answers to a plain request is its own affair. */
  readonly connected: boolean;
  /** Ms since the epoch. */
  readonly now: () => number;
}

const DAY = 86_400_000;
/** A certificate that ends sooner is worth a word. */
const SOON_MS = 14 * DAY;
/** Logins and certificates stop working when clocks are further apart. */
const SKEW_MS = 300_000;

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
const portOf = ({ port, protocol }: URL): number => (port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port));
const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';

export const hostLook =
  ({ url }: AddressLook): Look =>
  async () => {
    const host = hostOf(url);
    if (isIP(host) !== 0) return null;
    try {
      const { address } = await lookup(host);
      return fine('host', `${host} is ${address}`);
    } catch (error) {
      return wrong(
        'host',
        `the host name ${host} is not known (${codeOf(error)})`,
        'Correct the host in "url", or look at your DNS and VPN',
      );
    }
  };

export const portLook =
  ({ url }: AddressLook): Look =>
  (signal) =>
    new Promise((settle) => {
      const [host, port] = [hostOf(url), portOf(url)];
      const socket = connect({ host, port });
      signal.addEventListener('abort', () => socket.destroy());
      socket.once('connect', () => {
        socket.destroy();
        settle(fine('port', `port ${port} of ${host} is open`));
      });
      socket.once('error', (error) => {
        const code = codeOf(error);
        const words = code === 'ECONNREFUSED' ? 'nothing listens there' : code;
        settle(
          wrong(
            'port',
            `port ${port} of ${host} cannot be reached: ${words}`,
            'Start the server, or correct host and port in "url"',
          ),
        );
      });
    });

export const certificateLook =
  ({ url, now }: AddressLook): Look =>
  (signal) =>
    new Promise((settle) => {
      if (url.protocol !== 'https:') return settle(null);
      const host = hostOf(url);
      const name = isIP(host) === 0 ? { servername: host } : {};
      // Judged below, so that a certificate that is not good can be described.
      const socket = connectTls({ host, port: portOf(url), ...name, rejectUnauthorized: false });
      signal.addEventListener('abort', () => socket.destroy());
      socket.once('secureConnect', () => {
        const { valid_to } = socket.getPeerCertificate();
        const reason: unknown = socket.authorizationError;
        socket.destroy();
        const distrust = reason ? (reason instanceof Error ? codeOf(reason) : String(reason)) : null;
        settle(certificateCheck(host, { until: Date.parse(valid_to), distrust }, now()));
      });
      socket.once('error', (error) =>
        settle(wrong('certificate', `no TLS with ${host}: ${codeOf(error)}`, 'Is it http:// and not https://?')),
      );
    });

/** `until` in ms since the epoch, NaN if it is not known; `distrust`: why it is not trusted, null when it is. */
export function certificateCheck(
  host: string,
  { until, distrust }: { readonly until: number; readonly distrust: string | null },
  now: number,
): Check {
  const ends = Number.isNaN(until) ? '' : `, valid until ${new Date(until).toISOString().slice(0, 10)}`;
  if (distrust !== null) {
    const next = 'Renew it, or name its issuer in NODE_EXTRA_CA_CERTS where the daemon runs';
    return wrong('certificate', `the TLS certificate of ${host} is not trusted: ${distrust}${ends}`, next);
  }
  if (until - now < SOON_MS)
    return wrong('certificate', `the TLS certificate of ${host} ends soon${ends}`, 'Have it renewed');
  return fine('certificate', `the TLS certificate of ${host} is good${ends}`);
}

/** A request without any header or query of the entry: nothing secret goes out. Redirects are not followed. */
export const answerLook =
  ({ url, connected, now }: AddressLook): Look =>
  (signal) =>
    new Promise((settle) => {
      const { protocol, hostname, port, pathname, host } = url;
      const send = protocol === 'https:' ? tlsRequest : plainRequest;
      const asked = send({
        protocol,
        hostname: hostOf(url),
        port,
        path: pathname,
        method: 'GET',
        agent: false,
        headers: { accept: '*/*', host: host || hostname },
      });
      signal.addEventListener('abort', () => asked.destroy());
      asked.once('response', (answer) => {
        const { statusCode: status = 0, headers } = answer;
        answer.destroy();
        const skew = headers.date === undefined ? Number.NaN : Date.parse(headers.date) - now();
        const clock = Math.abs(skew) > SKEW_MS ? [clockCheck(skew, hostname)] : [];
        settle([statusCheck(status, `${protocol}//${host}${pathname}`, connected), ...clock]);
      });
      asked.once('error', (error) => {
        if (!signal.aborted)
          settle(wrong('http', `no HTTP answer: ${codeOf(error)}`, 'See the checks before this one'));
      });
      asked.end();
    });

function statusCheck(status: number, where: string, connected: boolean): Check {
  const detail = `${where} answers a plain request with HTTP ${status}`;
  if (connected || (status < 300 && status >= 200) || (status >= 400 && status < 500 && status !== 404))
    return fine('http', detail);
  if (status === 404) return wrong('http', detail, 'Check the path in "url"; many servers listen at /mcp');
  if (status < 400) return wrong('http', detail, 'It leads elsewhere; write the final address under "url"');
  return wrong('http', detail, 'Look at the log of that server');
}

const clockCheck = (skew: number, host: string) =>
  wrong(
    'clock',
    `the clock of ${host} is ${Math.round(Math.abs(skew) / 60_000)} minutes ${skew > 0 ? 'ahead of' : 'behind'} this one`,
    'Let both machines set their clocks by the network',
  );

/** Everything about an address, in order. */
export const addressLooks = (look: AddressLook): { name: string; look: Look; next: string | null }[] => [
  { name: 'host', look: hostLook(look), next: 'Look at your DNS and VPN' },
  { name: 'port', look: portLook(look), next: 'A firewall may be in between; check host and port in "url"' },
  { name: 'certificate', look: certificateLook(look), next: 'Is it http:// and not https://?' },
  {
    name: 'http',
    look: answerLook(look),
    next: 'It takes connections and does not answer; look at the log of that server',
  },
];
