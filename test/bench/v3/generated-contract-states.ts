import { getMethodId } from '@ton/core';

import {
  jettonMasters,
  jettonWallets,
  multisigOrders,
  multisigs,
  nftCollections,
  nftItems,
  nftSales,
  vestingContracts,
} from '#service/store/classification-tables.ts';
import type { Store } from '#service/store/store.ts';
import { codes, latestAccountStates } from '#service/store/tables.ts';
import { firstLt, firstUtime, generateRows } from './generated-index.ts';

/** Names of tables of contracts, and a get-method that tells their codes. */
const methods: readonly (readonly [table: string, method: string])[] = [
  [jettonMasters.name, 'get_jetton_data'],
  [jettonWallets.name, 'get_wallet_data'],
  [nftCollections.name, 'get_collection_data'],
  [nftItems.name, 'get_nft_data'],
  [nftSales.name, 'get_sale_data'],
  [multisigs.name, 'get_multisig_data'],
  [multisigOrders.name, 'get_order_data'],
  [vestingContracts.name, 'get_vesting_data'],
];

/** The states of contracts and their codes: an index knows what a contract is by nothing else. */
export async function generateContractStates(store: Store, tell: (text: string) => void): Promise<void> {
  const fillings = methods.flatMap(([name, method]) => [
    {
      what: `codes of ${name}`,
      count: 1,
      statement: () =>
        `INSERT INTO codes (code_hash, boc, methods) SELECT code_hash, '', ARRAY[${getMethodId(method)}] FROM ${name} LIMIT 1`,
    },
    {
      what: `states of ${name}`,
      count: 1,
      statement:
        () => `INSERT INTO latest_account_states (account, hash, balance, status, utime, last_trans_hash, last_trans_lt, data_hash, code_hash)
        SELECT address, sha256(address), 50000000, 2, ${firstUtime} + (last_trans_lt - ${firstLt}) / 240000000, sha256(address), last_trans_lt, data_hash, code_hash
        FROM ${name}`,
    },
  ]);
  await generateRows(store, [codes.name, latestAccountStates.name], fillings, tell);
}
