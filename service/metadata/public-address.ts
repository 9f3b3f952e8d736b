import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';

// This package is a CommonJS module, whose named exports Node does not find.
const { IPv4, IPv6, parse } = ipaddr;

/** Metadata services of clouds at a public address: Azure's wire server. Those of other clouds are link-local, unique-local or shared. */
const metadataServices: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Addresses allocated to hosts of the internet (RFC 4291, section 2.4). All other IPv6 is special or not yet allocated. */
const globalUnicast = IPv6.parseCIDR('2000::/3');

/** Prefix of NAT64, which puts the IPv4 address into the last 32 bits (RFC 6052, section 2.1). Networks without IPv4 reach all of it that way. */
const nat64 = IPv6.parseCIDR('64:ff9b::/96');

/**
 * Returns the reason why an address is not of a public host, by IANA's registries of special-purpose addresses. Examples: private, loopback,
 * link-local, shared, multicast, documentation, addresses that embed another address. Undefined for a public address.
 */
export function refusedAddress(address: string): string | undefined {
  if (isIP(address) === 0) return 'no address';
  const parsed = parse(address);
  if (parsed instanceof IPv4) return refusedIPv4(parsed);
  // A zone is a link of this machine.
  if (parsed.zoneId !== undefined) return 'zone';
  if (parsed.match(nat64)) {
    const inside = refusedIPv4(new IPv4(parsed.toByteArray().slice(12)));
    return inside && `nat64 of ${inside}`;
  }
  const range = parsed.range();
  if (range !== 'unicast') return range;
  return parsed.match(globalUnicast) ? undefined : 'reserved';
}

function refusedIPv4(address: ipaddr.IPv4): string | undefined {
  if (metadataServices.has(address.toString())) return 'metadataService';
  const range = address.range();
  return range === 'unicast' ? undefined : range;
}
