import type { BlockId } from '../decode/block-id.ts';
import { parseBoc } from '../decode/boc.ts';
import { shardContains } from '../decode/shard.ts';
import type { TransactionListAnswer } from './answers.ts';
import { ProofError } from './errors.ts';
import type { ProvedCell } from './proof-cells.ts';
import { proving, requireField, requireHash } from './proof-cells.ts';
import { readTransactionLink } from './transaction-proof.ts';

export type TransactionListExpectation = {
  readonly workchain: number;
  /** 32 bytes. */
  readonly account: Buffer;
  /** Newest wanted transaction. Its hash pins all that follow. */
  readonly lt: bigint;
  readonly hash: Buffer;
  /** Most wanted transactions. */
  readonly count: number;
};

/** Transaction and its position in the chain of its account. The answer's block ids are not proved, so they are not returned. */
export type ListedTransaction = {
  readonly transaction: ProvedCell;
  readonly lt: bigint;
  readonly prevHash: Buffer;
  readonly prevLt: bigint;
};

/**
 * Checks an answer of `getTransactions`: each transaction is the predecessor of the last one, by hash and lt (service/proof/README.md#transactions).
 * The list may be shorter than requested. Nothing exists at lt 0. The answer for lt 0, and for a count of 0, has no ids and no bag.
 * @returns newest first; empty only for lt 0 or count 0
 * @throws ProofError
 */
export function checkTransactionList(
  expected: TransactionListExpectation,
  answer: TransactionListAnswer,
): readonly ListedTransaction[] {
  const subject = 'transactionList';
  if (expected.lt === 0n || expected.count === 0) {
    requireField(`${subject}.ids`, 0, answer.ids.length);
    requireField(`${subject}.transactions bytes`, 0, answer.transactions.length);
    return [];
  }
  return proving(subject, () => {
    const boc = parseBoc(answer.transactions, { rootsMax: Math.max(1, expected.count) });
    requireField(`${subject}.ids`, boc.roots.length, answer.ids.length);
    let next: { readonly hash: Buffer; readonly lt: bigint } = expected;
    return boc.roots.map((cell, index) => {
      const transaction = { table: boc, cell };
      requireHash(subject, transaction, next.hash);
      const { account, lt, prevHash, prevLt } = readTransactionLink(transaction);
      requireField(`${subject} lt`, next.lt, lt);
      requireField(`${subject} account`, expected.account.toString('hex'), account.toString('hex'));
      next = { hash: prevHash, lt: prevLt };
      requireShardOfAccount(`${subject}.ids`, expected, answer.ids[index]!);
      return { transaction, lt, prevHash, prevLt };
    });
  });
}

function requireShardOfAccount(
  subject: string,
  { workchain, account }: TransactionListExpectation,
  block: BlockId,
): void {
  if (block.workchain === workchain && shardContains(block.shard, account)) return;
  throw new ProofError('wrong_field', { subject, expected: 'blocks of the account' });
}
