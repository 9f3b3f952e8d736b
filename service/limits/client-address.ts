import { isIP, isIPv4, isIPv6 } from 'node:net';

/**
 * Returns the caller's IP address. Each proxy appends the address of its client to `X-Forwarded-For`. With n trusted proxies, the outermost proxy
 * wrote the n-th entry from the right. Entries left of it are the caller's own claim. With fewer entries the leftmost counts. If an entry is no IP
 * address, the next entry to its right counts, and at last the socket's address.
 *
 * @param forwardedFor the header's value, several header lines joined by commas
 * @param trustedProxies 0..16
 * @returns an IPv4 or IPv6 address without port, brackets or zone; the socket's text unchanged when that is no address
 */
export function clientAddress(socketAddress: string, forwardedFor: string | undefined, trustedProxies: number): string {
  let caller = plainAddress(socketAddress) ?? socketAddress;
  if (forwardedFor === undefined) return caller;
  let end = forwardedFor.length;
  for (let proxies = 0; proxies < trustedProxies && end > 0; proxies++) {
    const comma = forwardedFor.lastIndexOf(',', end - 1);
    const address = plainAddress(forwardedFor.slice(comma + 1, end));
    if (address === undefined) break;
    caller = address;
    end = Math.max(0, comma);
  }
  return caller;
}

/**
 * Returns the subject of a limit without a key: an IPv4 address, or the /64 of an IPv6 address. One subscriber owns a whole /64. IPv4 mapped into
 * IPv6 counts as IPv4. Text that is no address counts unchanged.
 */
export function addressSubject(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = ipv6Groups(address);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (mapped) {
    const [high = 0, low = 0] = groups.slice(6);
    return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** Returns the IPv6 /48 that contains a /64 of `addressSubject`; undefined for any other subject. */
export function siteOf(subject: string): string | undefined {
  return subject.endsWith('::/64') ? `${subject.split(':', 3).join(':')}::/48` : undefined;
}

/** Strips decoration that proxies put around an address: blanks, quotes, brackets, port, zone. */
function plainAddress(text: string): string | undefined {
  // The longest form of an address with zone, brackets and port is below 100 characters.
  if (text.length > 128) return undefined;
  const bare = text.trim().replace(/^"(.*)"$/, '$1');
  if (isIP(bare) !== 0) return withoutZone(bare);
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(bare)?.[1];
  if (bracketed !== undefined && isIPv6(bracketed)) return withoutZone(bracketed);
  const withPort = /^([\d.]+):\d{1,5}$/.exec(bare)?.[1];
  return withPort !== undefined && isIPv4(withPort) ? withPort : undefined;
}

function withoutZone(address: string): string {
  const zone = address.indexOf('%');
  return zone === -1 ? address : address.slice(0, zone);
}

/** Returns the eight 16-bit groups of a valid IPv6 address. */
function ipv6Groups(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(withoutZone(address));
  const text = dotted
    ? `${dotted[1]}${pairText(dotted[2], dotted[3])}:${pairText(dotted[4], dotted[5])}`
    : withoutZone(address);
  const [left = '', right] = text.split('::');
  const head = groupsOf(left);
  if (right === undefined) return head;
  const tail = groupsOf(right);
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => 0);
  return [...head, ...zeros, ...tail];
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

function pairText(high: string | undefined, low: string | undefined): string {
  return (Number(high) * 256 + Number(low)).toString(16);
}
