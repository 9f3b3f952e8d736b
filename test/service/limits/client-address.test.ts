import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { addressSubject, clientAddress } from '#service/limits/client-address.ts';
import { threadCpuMs } from '#test/support/thread-cpu.ts';

const proxy = '10.0.0.1';

describe('the client address', () => {
  it.each([
    { why: 'is the socket without a header', header: undefined, proxies: 1, expected: proxy },
    { why: 'is the socket when no proxy is trusted', header: '192.0.2.7', proxies: 0, expected: proxy },
    { why: 'is what the one trusted proxy appended', header: '192.0.2.7', proxies: 1, expected: '192.0.2.7' },
    { why: 'is not what the caller claims', header: '203.0.113.9, 192.0.2.7', proxies: 1, expected: '192.0.2.7' },
    {
      why: 'is what the outermost of two appended',
      header: '203.0.113.9,192.0.2.7,10.0.0.2',
      proxies: 2,
      expected: '192.0.2.7',
    },
    { why: 'is the leftmost when the chain is shorter', header: '192.0.2.7', proxies: 5, expected: '192.0.2.7' },
    {
      why: 'is the next to the right of what is no address',
      header: 'unknown, 192.0.2.7',
      proxies: 2,
      expected: '192.0.2.7',
    },
    {
      why: 'is the socket when the nearest entry is no address',
      header: '192.0.2.7, _hidden',
      proxies: 2,
      expected: proxy,
    },
    { why: 'is the socket when the header is empty', header: '', proxies: 1, expected: proxy },
    { why: 'is the socket when the header is commas', header: ',,', proxies: 3, expected: proxy },
    { why: 'has no port', header: '192.0.2.7:5123', proxies: 1, expected: '192.0.2.7' },
    { why: 'has no brackets', header: '[2001:db8::7]:5123', proxies: 1, expected: '2001:db8::7' },
    { why: 'has no quotes', header: '"[2001:db8::7]"', proxies: 1, expected: '2001:db8::7' },
    { why: 'has no zone', header: 'fe80::1%eth0', proxies: 1, expected: 'fe80::1' },
  ])('the client address $why', ({ header, proxies, expected }) => {
    expect(clientAddress(proxy, header, proxies)).toBe(expected);
  });

  it('the client address does not depend on entries that the caller puts in front', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.integer({ min: 1, max: 3 }), (claim, proxies) => {
        const appended = ['192.0.2.7', '10.0.0.3', '10.0.0.2'].slice(0, proxies).join(', ');
        expect(clientAddress(proxy, `${claim},${appended}`, proxies)).toBe('192.0.2.7');
      }),
      { seed: 20_261_121 },
    );
  });

  it('the client address is found in a header of any length without reading all of it', () => {
    const header = `${'9.9.9.9,'.repeat(2_000_000)}192.0.2.7`;
    const before = threadCpuMs();
    for (let round = 0; round < 1000; round++) clientAddress(proxy, header, 1);
    expect(threadCpuMs() - before).toBeLessThan(500);
  });
});

describe('the subject of a limit', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['no address', 'no address'],
  ])('the subject of %s is %s', (address, subject) => {
    expect(addressSubject(address)).toBe(subject);
  });

  it('all addresses of a /64 have one subject in any spelling, and other addresses have another', () => {
    const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(groups, groups, groups, (network, hostA, hostB) => {
        const first = addressSubject(textOf([...network, ...hostA]));
        expect(addressSubject(textOf([...network, ...hostB]).toUpperCase())).toBe(first);
        const other = [...network.slice(0, 3), (network[3] ?? 0) ^ 1];
        expect(addressSubject(textOf([...other, ...hostA]))).not.toBe(first);
      }),
      { seed: 20_261_121 },
    );
  });
});

function textOf(groups: number[]): string {
  return groups.map((group) => group.toString(16)).join(':');
}
