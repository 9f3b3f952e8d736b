import { fitsFriendly, formatFriendlyAddress, formatRawAddress } from '../decode/address.ts';
import { writeBocText } from '../decode/boc-writer.ts';
import type { Transaction } from '../decode/tlb/transaction.ts';
import type { LiveTransaction } from '../live/transactions/transactions.ts';
import type { MessageSource } from './message-data.ts';
import { message, messageStd, viewMessage, viewMessageStd } from './messages.ts';
import { boc, nano, rawAddressUpper, uint63 } from './scalars.ts';
import { constant, list, named, object, optional, type Infer } from '../contract/shape.ts';
import { accountAddress, transactionId, viewAccountAddress, viewTransactionId } from './views.ts';

const costs = {
  utime: uint63,
  data: boc,
  transaction_id: transactionId,
  fee: nano,
  storage_fee: nano,
  other_fee: nano,
};

/** Transaction of the operations without Std in their name (service/v2/README.md#transactions). */
export const transaction = named(
  'Transaction',
  object({
    '@type': constant('ext.transaction'),
    address: accountAddress,
    account: rawAddressUpper,
    ...costs,
    in_msg: optional(message),
    out_msgs: list(message),
  }),
);

/** A transaction of getTransactionsStd. */
export const transactionStd = named(
  'TransactionStd',
  object({
    '@type': constant('raw.transaction'),
    address: accountAddress,
    ...costs,
    in_msg: optional(messageStd),
    out_msgs: list(messageStd),
  }),
);

/** A transaction of getBlockTransactionsExt. */
export const transactionExt = named(
  'TransactionExt',
  object({
    '@type': constant('raw.transactionExt'),
    address: accountAddress,
    account: rawAddressUpper,
    ...costs,
    in_msg: optional(messageStd),
    out_msgs: list(messageStd),
  }),
);

/** How an operation shows a transaction: the transaction without its messages, and each message. */
export type TransactionForm<T> = {
  readonly head: (shown: LiveTransaction) => Omit<T, 'in_msg' | 'out_msgs'>;
  readonly message: (source: MessageSource) => T extends { readonly out_msgs: readonly (infer M)[] } ? M : never;
};

export const plainForm: TransactionForm<Infer<typeof transaction>> = {
  head: (shown) => ({
    '@type': 'ext.transaction',
    address: viewAccountAddress(friendlyOf(shown)),
    account: rawOf(shown),
    ...viewCosts(shown),
  }),
  message: viewMessage,
};

export const stdForm: TransactionForm<Infer<typeof transactionStd>> = {
  head: (shown) => ({
    '@type': 'raw.transaction',
    address: viewAccountAddress(friendlyOf(shown)),
    ...viewCosts(shown),
  }),
  message: viewMessageStd,
};

export const extForm: TransactionForm<Infer<typeof transactionExt>> = {
  head: (shown) => ({
    '@type': 'raw.transactionExt',
    address: viewAccountAddress(friendlyOf(shown)),
    account: rawOf(shown),
    ...viewCosts(shown),
  }),
  message: viewMessageStd,
};

/** `fee` = the transaction's fees and what its messages pay ahead; `storage_fee` is a part of it. */
function viewCosts({ table, transaction: read }: LiveTransaction) {
  const forwardFees = read.outMessages.map(({ info }) => (info.kind === 'internal' ? info.forwardFee : 0n));
  const fee = forwardFees.reduce((sum, one) => sum + one, read.totalFees.grams);
  const storageFee = storageFeeOf(read);
  return {
    utime: read.utime,
    data: writeBocText(table, [read.cell], { crc32c: true }),
    transaction_id: viewTransactionId({ lt: read.lt, hash: table.hash(read.cell) }),
    fee: fee.toString(),
    storage_fee: storageFee.toString(),
    other_fee: (fee - storageFee).toString(),
  };
}

function storageFeeOf({ descr }: Transaction): bigint {
  return 'storage' in descr ? (descr.storage?.feesCollected ?? 0n) : 0n;
}

function accountOf({ workchain, transaction: { account } }: LiveTransaction) {
  return { workchain, id: account };
}

function friendlyOf(shown: LiveTransaction): string {
  return fitsFriendly(shown) ? formatFriendlyAddress(accountOf(shown)) : '';
}

function rawOf(shown: LiveTransaction): string {
  return formatRawAddress(accountOf(shown), 'upper');
}
