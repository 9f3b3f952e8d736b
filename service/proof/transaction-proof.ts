import type { BlockId } from '../decode/block-id.ts';
import type { BlockInfo } from '../decode/tlb/block-info.ts';
import { CellSlice } from '../decode/cell-slice.ts';
import { shardContains } from '../decode/shard.ts';
import { findAccountBlock, findAccountTransaction } from '../decode/tlb/account-blocks.ts';
import { readBlock } from '../decode/tlb/block.ts';
import { readBlockExtra } from '../decode/tlb/block-extra.ts';
import type { TransactionInfoAnswer } from './answers.ts';
import { ProofError } from './errors.ts';
import { readHeader, requireBlock } from './header-proof.ts';
import type { ProvedCell } from './proof-cells.ts';
import { openProof, openRoot, proving, requireHash } from './proof-cells.ts';

export type TransactionExpectation = {
  readonly block: BlockId;
  readonly workchain: number;
  /** 32 bytes. */
  readonly account: Buffer;
  readonly lt: bigint;
};

/** Transaction of a block, and the block's header. */
export type ProvedTransaction = {
  /** Undefined when the block is proved to have no such transaction. */
  readonly transaction: ProvedCell | undefined;
  readonly info: BlockInfo;
};

/**
 * Checks an answer of `getOneTransaction` (service/proof/README.md#transactions).
 * @throws ProofError
 */
export function checkTransaction(expected: TransactionExpectation, answer: TransactionInfoAnswer): ProvedTransaction {
  const subject = 'transactionInfo';
  const { block, workchain, account, lt } = expected;
  requireBlock(subject, block, answer.id);
  return proving(subject, () => {
    if (block.workchain !== workchain || !shardContains(block.shard, account)) {
      throw new ProofError('wrong_field', { subject, expected: 'a block of the shard of the account' });
    }
    const proof = openProof(`${subject}.proof`, answer.proof);
    const { info } = readHeader(`${subject}.proof`, proof, block);
    const isOutside = lt <= info.startLt || lt >= info.endLt;
    const found = isOutside ? undefined : findTransaction(proof, account, lt);
    if (found === undefined) {
      if (answer.transaction.length === 0) return { transaction: undefined, info };
      throw new ProofError('not_contained', { subject: `${subject}.transaction`, expected: 'nothing' });
    }
    const transaction = openRoot(`${subject}.transaction`, answer.transaction);
    requireHash(`${subject}.transaction`, transaction, proof.table.hash(found, 0));
    return { transaction, info };
  });
}

function findTransaction({ table, cell }: ProvedCell, account: Buffer, lt: bigint): number | undefined {
  const { accountBlocks } = readBlockExtra(table, readBlock(table, cell).extra);
  const accountBlock = findAccountBlock(table, accountBlocks, account);
  return accountBlock && findAccountTransaction(accountBlock, lt);
}

/** Position of a transaction in the chain of its account. */
export type TransactionLink = {
  readonly account: Buffer;
  readonly lt: bigint;
  readonly prevHash: Buffer;
  readonly prevLt: bigint;
};

/** Reads the first fields of `transaction$0111 account_addr:bits256 lt:uint64 prev_trans_hash:bits256 prev_trans_lt:uint64 ...`. */
export function readTransactionLink({ table, cell }: ProvedCell): TransactionLink {
  const slice = new CellSlice(table, cell);
  slice.expectTag(4, 7, 'Transaction');
  return { account: slice.hash(), lt: slice.uint64(), prevHash: slice.hash(), prevLt: slice.uint64() };
}
