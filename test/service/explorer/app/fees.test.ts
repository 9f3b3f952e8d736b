import { describe, expect, it } from 'vitest';

import type { Transaction } from '#service/explorer/app/objects.ts';
import { feesOf } from '#service/explorer/app/transaction/fees.ts';

describe('fees of a transaction', () => {
  it('add up to the total, whatever parts are missing', () => {
    const transaction = {
      total_fees: '1000',
      description: {
        type: 'ord',
        storage_ph: { storage_fees_collected: '10' },
        compute_ph: { skipped: false, gas_fees: '600' },
        action: { success: true, result_code: 0, total_action_fees: '300' },
      },
      out_msgs: [{ fwd_fee: '77' }, { fwd_fee: null }],
    } as unknown as Transaction;
    expect(feesOf(transaction)).toEqual({
      storage: 10n,
      gas: 600n,
      action: 300n,
      other: 90n,
      total: 1000n,
      forwarded: 77n,
    });
    const bare = { ...transaction, description: { type: 'storage' }, out_msgs: [] };
    expect(feesOf(bare)).toMatchObject({ storage: 0n, other: 1000n, total: 1000n });
  });
});
