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
  /** The newest wanted transaction; the hash pins all that follow. */
  readonly lt: bigint;
  readonly hash: Buffer;
  /** How many are wanted at most. */
  readonly count: number;
};

/** An account's transaction, and the block that the lite server says it is in. */
export type ListedTransaction = {
  readonly transaction: ProvedCell;
  readonly lt: bigint;
  readonly prevHash: Buffer;
  readonly prevLt: bigint;
  /** Not proved. */
  readonly claimedBlock: BlockId;
};

/**
 * Checks an answer of `getTransactions`: each transaction is the one before the last, by hash and lt (lite server sheet 8.6). The
 * list may be shorter than asked.
 * @returns newest first, at least one
 * @throws ProofError
 */
export function checkTransactionList(
  expected: TransactionListExpectation,
  answer: TransactionListAnswer,
): readonly ListedTransaction[] {
  const subject = 'transactionList';
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
      const claimedBlock = answer.ids[index]!;
      if (claimedBlock.workchain !== expected.workchain || !shardContains(claimedBlock.shard, account)) {
        throw new ProofError('wrong_field', { subject: `${subject}.ids`, expected: 'blocks of the account' });
      }
      return { transaction, lt, prevHash, prevLt, claimedBlock };
    });
  });
}
