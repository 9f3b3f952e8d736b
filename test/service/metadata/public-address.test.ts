import { assert, constant, integer, ipV6, oneof, pre, property, tuple } from 'fast-check';
import { describe, expect, it } from 'vitest';

import { refusedAddress } from '#service/metadata/public-address.ts';

/** Refused addresses by kind: the first and last address of each range, and the next address if it is public. */
const refused: readonly (readonly [what: string, addresses: readonly string[]])[] = [
  ['this network', ['0.0.0.0', '0.255.255.255']],
  ['private', ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255']],
  ['shared', ['100.64.0.0', '100.127.255.255', '100.100.100.200']],
  ['loopback', ['127.0.0.1', '127.255.255.255', '::1']],
  ['link-local', ['169.254.0.1', '169.254.169.254', '169.254.170.2', 'fe80::1', 'febf::1']],
  ['a metadata service', ['168.63.129.16', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254']],
  ['IETF protocols', ['192.0.0.1', '192.0.0.170', '2001::1', '2001:1ff:ffff::1', '2001:2::1', '2001:20::1']],
  ['documentation', ['192.0.2.1', '198.51.100.1', '203.0.113.255', '2001:db8::1', '3fff::1']],
  ['benchmarks', ['198.18.0.0', '198.19.255.255']],
  [
    'relays and blackholes',
    ['192.88.99.1', '192.175.48.1', '192.31.196.1', '192.52.193.1', '2620:4f:8000::1', '100::1'],
  ],
  ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1']],
  ['reserved', ['240.0.0.1', '255.255.255.255', '4000::1', '1fff::1', 'e000::1', '200::1', '5f00::1']],
  ['unique-local', ['fc00::1', 'fdff:ffff::1']],
  ['site-local', ['fec0::1']],
  ['unspecified', ['::']],
  ['IPv4-mapped', ['::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '::ffff:a9fe:a9fe']],
  ['IPv4-compatible', ['::127.0.0.1', '::8.8.8.8']],
  ['IPv4-translated', ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8']],
  [
    'NAT64 of what is refused',
    ['64:ff9b::127.0.0.1', '64:ff9b::10.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b::168.63.129.16'],
  ],
  ['NAT64 of a network of its own', ['64:ff9b:1::8.8.8.8']],
  ['6to4', ['2002:7f00:1::', '2002:808:808::1']],
  ['Teredo', ['2001:0:4136:e378:8000:63bf:3fff:fdd2']],
  ['an address on a link of this machine', ['fe80::1%eth0', '2606:4700::1%eth0']],
  ['no address', ['', 'localhost', '127.1', '0x7f000001', '8.8.8.8.8', '1.1.1.1/32']],
];

/** Returns the last 32 bits of an IPv6 address. */
function asGroups([a = 0, b = 0, c = 0, d = 0]: readonly number[]): string {
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

describe('an address that is refused', () => {
  it.each(refused.flatMap(([what, addresses]) => addresses.map((address) => [what, address])))(
    'an address is refused (%s): %s',
    (_, address) => {
      expect(refusedAddress(address ?? '')).toEqual(expect.any(String));
    },
  );

  it('every address of a private range is refused, in each form that embeds it', () => {
    const byte = integer({ min: 0, max: 255 });
    const privateIPv4 = oneof(
      tuple(constant(10), byte, byte, byte),
      tuple(constant(127), byte, byte, byte),
      tuple(constant(172), integer({ min: 16, max: 31 }), byte, byte),
      tuple(constant(192), constant(168), byte, byte),
      tuple(constant(169), constant(254), byte, byte),
      tuple(constant(100), integer({ min: 64, max: 127 }), byte, byte),
    );
    assert(
      property(privateIPv4, (bytes) => {
        const groups = asGroups(bytes);
        const forms = [bytes.join('.'), `::ffff:${groups}`, `::${groups}`, `64:ff9b::${groups}`, `2002:${groups}::1`];
        expect(forms.filter((form) => refusedAddress(form) === undefined)).toEqual([]);
      }),
      { seed: 7, numRuns: 300 },
    );
  });

  it('every IPv6 address outside of global unicast is refused', () => {
    assert(
      property(ipV6(), (address) => {
        const first = Number.parseInt(address.startsWith('::') ? '0' : (address.split(':')[0] ?? '0'), 16);
        pre((first & 0xe000) !== 0x2000 && first !== 0x64);
        expect(refusedAddress(address)).toEqual(expect.any(String));
      }),
      { seed: 8, numRuns: 500 },
    );
  });
});

describe('an address that is taken', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:81b::200e',
    // Networks without IPv4 reach all of it by NAT64.
    '64:ff9b::8.8.8.8',
  ])('the address %s is accepted', (address) => {
    expect(refusedAddress(address)).toBeUndefined();
  });
});
