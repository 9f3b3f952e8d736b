import type { AccountId } from '#service/live/accounts/accounts.ts';
import type { LiveAnswer } from '#service/contract/answer.ts';
import { LiveError } from '#service/live/errors.ts';
import type {
  BlockListing,
  BlockName,
  BlockTransactionRange,
  LiveTransaction,
  LiveTransactionList,
  LiveTransactions,
  MessageName,
  TransactionName,
  TransactionRange,
} from '#service/live/transactions/transactions.ts';
import { bytes32, masterchainBlock } from './scripted-accounts.ts';

/** One question that a scripted family was asked. */
export type TransactionQuestion =
  | { readonly account: AccountId; readonly range: TransactionRange }
  | { readonly block: BlockName; readonly range: BlockTransactionRange }
  | { readonly message: MessageName; readonly end: 'receiver' | 'sender' };

export type TransactionsScript = {
  readonly list?: LiveTransactionList;
  readonly names?: BlockListing<TransactionName>;
  readonly block?: BlockListing<LiveTransaction>;
  readonly found?: LiveTransaction;
};

/** Answers by script, with nothing at all by default, and remembers what was asked. */
export function scriptTransactions(
  script: TransactionsScript = {},
): LiveTransactions & { readonly asked: TransactionQuestion[] } {
  const asked: TransactionQuestion[] = [];
  const answer = <T>(question: TransactionQuestion, value: T): LiveAnswer<T> => {
    asked.push(question);
    return { value, liteServers: [4], cached: false };
  };
  const find = (message: MessageName, end: 'receiver' | 'sender'): LiveAnswer<LiveTransaction> => {
    if (script.found !== undefined) return answer({ message, end }, script.found);
    asked.push({ message, end });
    throw new LiveError('transaction_not_found', 'transaction not found');
  };
  const empty = { block: masterchainBlock(1000), transactions: [], incomplete: false };
  return {
    asked,
    readTransactions: async (account, range) =>
      answer({ account, range }, script.list ?? { transactions: [], previous: { lt: 0n, hash: bytes32(0) } }),
    listBlock: async (block, range) => answer({ block, range }, script.names ?? empty),
    readBlockTransactions: async (block, range) => answer({ block, range }, script.block ?? empty),
    findReceiver: async (message) => find(message, 'receiver'),
    findSender: async (message) => find(message, 'sender'),
  };
}
