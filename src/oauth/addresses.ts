/** Which addresses a login may lead to. Whatever a server names is checked here before it is fetched or opened. Pure. */

export interface AddressRules {
  /** Whether the MCP server itself is on this machine: only then may its metadata lead to this machine. */
  readonly local: boolean;
  /** Ports of this daemon; nothing of a login is ever fetched from there. */
  readonly ownPorts: readonly number[];
  /** Addresses of this machine in its networks; they count as this machine, as loopback does. */
  readonly ownAddresses: readonly string[];
  /** The host of the MCP server, `''` while it is not known. */
  readonly server: string;
}

export type Checked = { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly reason: string };

const LONGEST_URL = 8_192;

const no = (reason: string): Checked => ({ ok: false, reason });

/**
 * A URL from elsewhere: https anywhere, http on this machine alone; no user info; no addresses of the link, of groups or of
 * nobody; this machine only for a server that is on it, and never a port of the daemon. The reason holds no secret.
 */
export function checkUrl(text: string, rules: Omit<AddressRules, 'server'>): Checked {
  const { local, ownPorts, ownAddresses } = rules;
  if (text.length > LONGEST_URL) return no('is too long');
  // The parser would drop these without a word.
  if (/[\u0000-\u0020\u007f\\]/.test(text)) return no('holds characters that an address cannot have');
  if (!URL.canParse(text)) return no('is not a web address');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return no(`begins with ${url.protocol}, not with https:`);
  if (url.username !== '' || url.password !== '') return no('holds a user name or password');
  const loopback = isLoopback(url.hostname);
  if (url.protocol === 'http:' && !loopback) return no('is not encrypted (http instead of https)');
  const here = loopback || isOwn(url.hostname, ownAddresses);
  if (here && !local) return no('leads to this machine, although the server is elsewhere');
  if (here && ownPorts.includes(portOf(url))) return no('leads to this daemon itself');
  const forbidden = forbiddenAddress(bare(url.hostname));
  if (forbidden !== null) return no(`leads to ${forbidden}`);
  return { ok: true, url };
}

/** Names and addresses of this machine: `localhost`, names below it, 127.0.0.0/8, ::1. */
export function isLoopback(hostname: string): boolean {
  const name = bare(hostname).toLowerCase().replace(/\.$/, '');
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true;
  return v4Of(name)?.[0] === 127;
}

/** Whether a host is one of these addresses, however either of them is written. */
export function isOwn(hostname: string, own: readonly string[]): boolean {
  const wanted = spelled(bare(hostname));
  return wanted !== null && own.some((address) => spelled(address) === wanted);
}

/** One spelling of each address; null for names. */
function spelled(address: string): string | null {
  const parts = v4Of(address) ?? (address.includes(':') ? groupsOf(address) : null);
  return parts?.join('.') ?? null;
}

/** Why nothing may be fetched from an address, in words; null for one that may be used, and for names. */
export function forbiddenAddress(address: string): string | null {
  const v4 = v4Of(address);
  if (v4 !== null) return forbiddenV4(v4);
  if (!address.includes(':')) return null;
  const groups = groupsOf(address);
  if (groups === null) return 'an address that cannot be read';
  const [first = 0] = groups;
  if (groups.every((group) => group === 0)) return 'an address of nobody';
  if ((first & 0xffc0) === 0xfe80) return 'a link-local address';
  if ((first & 0xff00) === 0xff00) return 'a multicast address';
  return null;
}

function forbiddenV4([a = 0, b = 0]: readonly number[]): string | null {
  if (a === 169 && b === 254) return 'a link-local address';
  if (a === 0) return 'an address of nobody';
  if (a >= 224) return 'a multicast or reserved address';
  return null;
}

/** The port a URL leads to. */
export const portOf = ({ port, protocol }: URL): number =>
  port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

/** The four bytes of an IPv4 address, also of one that is written as IPv6. */
function v4Of(address: string): readonly number[] | null {
  const plain = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(address);
  if (plain !== null) return plain.slice(1).map(Number);
  const groups = address.includes(':') ? groupsOf(address) : null;
  if (groups === null) return null;
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  // 64:ff9b::/96 leads to the IPv4 address in its last 32 bits.
  const translated = groups[0] === 0x64 && groups[1] === 0xff9b && groups.slice(2, 6).every((group) => group === 0);
  if (!mapped && !translated) return null;
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255];
}

/** The eight groups of an IPv6 address; null when it is none. A zone is left out. */
function groupsOf(text: string): readonly number[] | null {
  const [address = ''] = text.split('%', 1);
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const plain =
    dotted === null
      ? address
      : `${dotted[1]}${((Number(dotted[2]) << 8) | Number(dotted[3])).toString(16)}:${((Number(dotted[4]) << 8) | Number(dotted[5])).toString(16)}`;
  const halves = plain.split('::');
  if (halves.length > 2) return null;
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  const groups = [...head, ...Array<string>(halves.length === 1 ? 0 : missing).fill('0'), ...tail];
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? groups.map((group) => Number.parseInt(group, 16))
    : null;
}
