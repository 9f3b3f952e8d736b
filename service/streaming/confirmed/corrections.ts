import { parseAddress } from '#service/decode/address.ts';
import { accountKey } from '#service/store/account-key.ts';
import { readAccounts } from '#service/store/queries/accounts.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { viewAccountKey, viewBytes, viewBytesOrNull } from '#service/v3/request/scalars.ts';
import { viewTail } from '#service/v3/views/transaction-views.ts';
import type { AccountKey, StateChange } from '../changes.ts';

/**
 * Last final states of accounts whose confirmed states are void. The index has no state of an account that was never final: such an account has no
 * correction.
 * @throws StoreError
 */
export async function correctionsOf(
  accounts: readonly AccountKey[],
  reader: StoreReader,
): Promise<readonly StateChange[]> {
  const keys = accounts.flatMap((text) => {
    const address = parseAddress(text);
    return address === undefined ? [] : [accountKey(address)];
  });
  if (keys.length === 0) return [];
  const rows = await readAccounts(reader, { accounts: keys, codeHashes: [], bocs: 'none' });
  return rows.map((row) => {
    const { hash, account, last_trans_lt: lt, last_trans_hash: transaction } = row;
    const update = { oldHash: Buffer.from(hash), newHash: Buffer.from(hash) };
    const { account_state_after: state } = viewTail(
      {
        stateUpdate: update,
        originalStatus: 'nonexist',
        endStatus: 'nonexist',
        emulated: false,
        finality: 'finalized',
      },
      new Map([[viewBytes(hash), row]]),
    );
    const place = { last_transaction_lt: lt.toString(), last_transaction_hash: viewBytesOrNull(transaction) };
    return {
      kind: 'state',
      account: viewAccountKey(account),
      finality: 'finalized',
      position: null,
      state: { ...state, ...place },
      isCorrection: true,
    };
  });
}
