import { list, named, object, oneOfStrings, optional, type Infer } from '#service/contract/shape.ts';
import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import { knownWallet, walletTypes } from '#service/decode/known-codes.ts';
import { readWalletByHash, type Wallet } from '#service/live/contracts/wallets.ts';
import type { AccountRow } from '#service/store/queries/accounts.ts';
import { hidesCurrencies, readRequested, viewStatus } from '../views/account-rows.ts';
import type { AccountStateDependencies } from './account-states.ts';
import { answerAnnotations } from '../annotations/answer-annotations.ts';
import { defineV3Operation, type V3Operation } from '../request/operation.ts';
import { accounts, LIMIT_MAX } from '../request/parameters.ts';
import { requiredList } from '../request/required-parameters.ts';
import {
  accountStatus,
  extraCurrencies,
  flag,
  hash,
  integer,
  intString,
  orNull,
  rawAddress,
  viewAccountKey,
  viewBytes,
} from '../request/scalars.ts';

const walletState = named(
  'WalletState',
  object({
    address: rawAddress,
    is_wallet: flag,
    wallet_type: optional(oneOfStrings(walletTypes())),
    seqno: optional(integer),
    wallet_id: optional(integer),
    balance: optional(intString),
    extra_currencies: optional(extraCurrencies),
    is_signature_allowed: optional(flag),
    status: optional(accountStatus),
    code_hash: optional(hash),
    last_transaction_hash: orNull(hash),
    last_transaction_lt: orNull(intString),
  }),
);

const response = named('WalletStatesResponse', object({ wallets: list(walletState, LIMIT_MAX), ...answerAnnotations }));

/** Data of a wallet; `wallet_id` is unsigned (service/v3/README.md#wallet-states). */
export function viewWallet({ type, seqno, walletId, isSignatureAllowed }: Wallet) {
  return {
    wallet_type: type,
    seqno,
    ...(walletId !== undefined && { wallet_id: walletId >>> 0 }),
    ...(isSignatureAllowed !== undefined && { is_signature_allowed: isSignatureAllowed }),
  };
}

/** An account of service/v3/README.md#wallet-states, a wallet or not. */
export function viewWalletState(row: AccountRow): Infer<typeof walletState> {
  const codeHash = row.code_hash === null ? undefined : viewBytes(row.code_hash);
  const data = row.data_boc === null ? null : Buffer.from(row.data_boc);
  const wallet = codeHash === undefined ? undefined : readWalletByHash(codeHash, { data });
  // Data that no lite server has any more is unknown; the code alone gives the type.
  const isUnread = codeHash !== undefined && row.data_hash !== null && data === null;
  const type = isUnread ? knownWallet(codeHash)?.type : wallet?.type;
  const { is_signature_allowed, ...reported } = wallet === undefined ? {} : viewWallet(wallet);
  return {
    address: viewAccountKey(row.account),
    is_wallet: type !== undefined,
    ...(type !== undefined && { wallet_type: type }),
    ...reported,
    balance: row.balance.toString(),
    ...(row.extra_currencies !== null && !hidesCurrencies(row) && { extra_currencies: row.extra_currencies }),
    ...(is_signature_allowed !== undefined && { is_signature_allowed }),
    status: viewStatus(row.status),
    ...(codeHash !== undefined && { code_hash: codeHash }),
    last_transaction_hash: viewBytes(row.last_trans_hash),
    last_transaction_lt: row.last_trans_lt.toString(),
  };
}

const isWallet = ({ code_hash: codeHash }: AccountRow): boolean =>
  codeHash !== null && knownWallet(viewBytes(codeHash)) !== undefined;

/** States of wallets as of the newest indexed block (service/v3/README.md#wallet-states). */
export function walletStateOperations({ contents, notes }: AccountStateDependencies): readonly V3Operation[] {
  return [
    defineV3Operation({
      name: 'walletStates',
      tag: 'accounts',
      summary: 'States of wallets. Accounts that the index does not know are left out.',
      parameters: { addresses: requiredList(accounts('address'), 'address of account is required') },
      result: response,
      flat: true,
      handle: async ({ addresses }, context) => {
        const found = await readRequested(context.store, addresses, { codeHashes: [], bocs: 'data' });
        // Data of other contracts is not read, and does not count for the limit of an answer.
        const rows = found.map((row) => (isWallet(row) ? row : { ...row, data_boc: null }));
        const completed = await contents.complete(rows, { bocs: 'data', of: isWallet }, context);
        const wallets = await mapInSlices(completed, viewWalletState, createTimeSlice(context.signal));
        const shown = wallets.map(({ address }) => address);
        return { wallets, ...(await notes.notesOf(shown, context)) };
      },
    }),
  ];
}
