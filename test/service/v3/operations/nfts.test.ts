import { describe, expect, it } from 'vitest';

import { nftOperations } from '#service/v3/operations/nfts.ts';
import { keyOf, rawOf } from '#test/support/token-rows.ts';

/** Nothing is read: what is refused is refused before. */
const nobody = new Proxy({}, { get: () => ({}) });

describe('nft/sales', () => {
  it('takes a thousand addresses and no more', async () => {
    const sales = nftOperations(nobody as never).find(({ name }) => name === 'nft/sales')!;
    const addresses = Array.from({ length: 1001 }, (_, at) => rawOf(keyOf('sale', at)));
    const ask = (given: readonly string[]): Promise<unknown> =>
      sales.run({ kind: 'query', names: [], get: () => given.at(-1), getAll: () => given }, {
        store: { read: () => Promise.reject(new Error('read')) },
      } as never);
    await expect(ask(addresses)).rejects.toThrow('maximum 1000 addresses allowed');
    await expect(ask(addresses.slice(1))).rejects.toThrow('read');
  });
});
