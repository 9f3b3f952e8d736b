import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';

// A CommonJS module, of which Node finds no names.
const { IPv4, IPv6, parse } = ipaddr;

/** Of clouds that give their machines' secrets at a public address: Azure's wire server. The others' are link-local, unique-local or shared. */
const metadataServices: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Addresses that have been given to hosts of the internet (RFC 4291, section 2.4): all other IPv6 is special or not yet anybody's. */
const globalUnicast = IPv6.parseCIDR('2000::/3');

/** RFC 6052, section 2.1: a NAT64 puts the IPv4 address into the last 32 bits. Networks without IPv4 reach all of it so. */
const nat64 = IPv6.parseCIDR('64:ff9b::/96');

/**
 * Why an address is not one of a public host, from IANA's registries of special-purpose addresses: private, loopback, link-local, shared, multicast,
 * documentation, forms that carry another address, and the like. Undefined for a public one.
 */
export function refusedAddress(address: string): string | undefined {
  if (isIP(address) === 0) return 'no address';
  const parsed = parse(address);
  if (parsed instanceof IPv4) return refusedIPv4(parsed);
  // A zone names a link of this machine.
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
