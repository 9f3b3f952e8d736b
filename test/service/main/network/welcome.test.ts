import { describe, expect, it } from 'vitest';

import { welcomeJson, welcomeText, type WelcomeFacts } from '#service/main/network/welcome.ts';

const placeOf = (byte: number) => ({ workchain: 0, id: Buffer.alloc(32, byte) });

/** An account of two addresses, whose balances at the chain are given. */
function factsOf(balances: readonly bigint[]): WelcomeFacts {
  const addresses = balances.map((_, index) => ({ version: `v${index}`, place: placeOf(index) }));
  return {
    title: 'A network.',
    url: 'http://127.0.0.1:1',
    internalUrl: 'http://127.0.0.1:2',
    hasIndex: false,
    key: 'key',
    keyRequired: false,
    isLoopback: true,
    globalId: -217,
    liteServer: { host: '127.0.0.1', port: 3, publicKey: Buffer.alloc(32) },
    accounts: [{ name: 'carl', balance: 5_000_000_000n, addresses }],
    balanceOf: ({ id }) => balances[id[0]!]!,
    demo: {},
    notes: [],
    sampleAddress: 'EQ',
  };
}

describe('the balance of an account at the start', () => {
  it.each([
    [[500_000_000n, 500_000_000n], /^ {2}carl, 0\.5 TON each: v0 UQ\S+ {2}v1 UQ\S+$/m],
    [[1_000_000_001n], /^ {2}carl, 1\.000000001 TON each: v0 UQ\S+$/m],
    [[10_000_000_000n], /^ {2}carl, 10 TON each: v0 UQ\S+$/m],
    [[0n, 7_250_000_000n], /^ {2}carl: v0 UQ\S+ \(0 TON\) {2}v1 UQ\S+ \(7\.25 TON\)$/m],
  ])('of %o nanotons is that of the chain, with all digits', (balances, line) => {
    expect(welcomeText(factsOf(balances))).toMatch(line);
  });

  it('is in the JSON for each address', () => {
    const [account] = welcomeJson(factsOf([1n, 2n])).accounts;
    expect(account?.addresses.map(({ balance }) => balance)).toEqual(['1', '2']);
  });
});
