import { expect, it } from 'vitest';

import { viewNftSale } from '#service/v3/views/nft-views.ts';
import { keyOf } from '#test/support/token-rows.ts';

it('a sale that began past 2038 shows its second as unsigned', () => {
  const none = { nft: null, nft_owner: null, marketplace: null, code_hash: null, data_hash: null };
  const sale = { type: 'getgems_sale', address: keyOf('sale', 0), last_trans_lt: 1n, details: {}, ...none };
  expect(viewNftSale({ ...sale, created_at: 3_000_000_000 | 0 }, undefined).created_at).toBe(3_000_000_000);
});
