import { expect, it } from 'vitest';

import { account, createHubUnderTest, hash, trace, transaction } from './hub-under-test.ts';

const [a, b, c] = ['A', 'B', 'C'].map(account) as [string, string, string];

it('An event has metadata of the master of each jetton wallet that the event names, as v3 has', async () => {
  const wallet = { type: 'jetton_wallets', extra: { owner: a, jetton: c, balance: '1' } };
  const tokens = { [b]: { is_indexed: true, token_info: [wallet] }, [c]: { is_indexed: true, token_info: [] } };
  const { open, block } = createHubUnderTest({
    labels: { addressBook: async () => ({}), metadata: async () => tokens },
  });
  const [ofWallet, ofOther] = [open(), open()];
  const types = new Set(['transactions'] as const);
  await ofWallet.subscribe({ accounts: new Set([b]), types, includeMetadata: true });
  await ofOther.subscribe({ accounts: new Set([a]), types, includeMetadata: true });
  await block(trace(hash(1), { transactions: [transaction('t1', a), transaction('t2', b)] }));
  const keys = [ofWallet, ofOther].map(({ events }) => Object.keys(events[0]!['metadata'] as object));
  expect(keys).toEqual([[b, c], []]);
});
