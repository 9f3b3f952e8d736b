import type { BlockId } from '#service/decode/block-id.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { shardContains } from '#service/decode/shard.ts';
import { findAccountBlock, findAccountTransaction } from '#service/decode/tlb/account-blocks.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readBlockExtra } from '#service/decode/tlb/block-extra.ts';
import { readBlockInfo } from '#service/decode/tlb/block-info.ts';
import type { ArgsOf } from '#service/liteserver/functions.ts';
import type { getOneTransaction, getTransactions } from '#service/liteserver/functions.ts';
import type { TransactionInfo, TransactionList } from '#service/liteserver/tl/lite-api.ts';
import type { DevchainError } from '../chain/errors.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import type { Shown } from '../chain/proof-builder.ts';
import { answerBoc } from '../chain/proof-builder.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { isValidId, lookUpBlock, needBlock, visitBlock } from '../chain/chain-view.ts';
import type { VisitedCells } from '../collator/visited-cells.ts';
import type { QueryHandlers } from './query-handlers.ts';

/** Most transactions of one getTransactions answer. */
const TRANSACTIONS_MAX = 16;

/** Finds an account's transaction in a block, unopened. Opens the ways through both dictionaries. */
function findTransaction(tree: VisitedCells, extra: number, account: Buffer, lt: bigint): number | undefined {
  const block = findAccountBlock(tree, readBlockExtra(tree, extra).accountBlocks, account);
  return block === undefined ? undefined : findAccountTransaction(block, lt);
}

function answerOneTransaction(view: ChainView, { id, account, lt }: ArgsOf<typeof getOneTransaction>): TransactionInfo {
  if (!isValidId(id)) throw refusal(serverCode.fatal, 'block id in getOneTransaction() is invalid');
  if (id.workchain !== account.workchain || !shardContains(id.shard, account.id)) {
    throw refusal(serverCode.fatal, 'requested account id is not contained in the shard of the specified block');
  }
  const block = needBlock(view, id);
  const tree = visitBlock(view, block);
  const { info, extra } = readBlock(tree, tree.root);
  const { startLt, endLt } = readBlockInfo(tree, info);
  const wanted = BigInt.asUintN(64, lt);
  const inBlock = wanted > startLt && wanted < endLt;
  const cell = inBlock ? findTransaction(tree, extra, account.id, wanted) : undefined;
  return {
    id: block.id,
    proof: answerBoc(tree),
    transaction: cell === undefined ? Buffer.alloc(0) : answerBoc({ table: tree.source, cell }),
  };
}

type Args = ArgsOf<typeof getTransactions>;

/** Returns transactions back along the account's chain, newest first. Ends at the requested count or the tape's start. */
function answerTransactions(view: ChainView, { count, account, lt, hash }: Args): TransactionList {
  if (account.workchain === -0x80000000) throw refusal(serverCode.fatal, 'invalid workchain specified');
  const ids: BlockId[] = [];
  const roots: Shown[] = [];
  let next = { lt: BigInt.asUintN(64, lt), hash };
  while (roots.length < Math.min(count, TRANSACTIONS_MAX) && next.lt > 0n) {
    const found = loadTransaction(view, account, next.lt, roots.length === 0);
    if (found === undefined) break;
    const { id, tree, cell } = found;
    if (!tree.hashEquals(cell, next.hash)) throw refusal(serverCode.fatal, 'transaction hash mismatch');
    ids.push(id);
    roots.push({ table: tree.source, cell });
    next = readPrevious(tree, cell);
  }
  return { ids, transactions: roots.length === 0 ? Buffer.alloc(0) : answerBoc(...roots) };
}

type Found = { readonly id: BlockId; readonly tree: VisitedCells; readonly cell: number };

/** Loads a transaction by its lt. A missing transaction refuses the query when it is the first, else it ends the answer. */
function loadTransaction(view: ChainView, account: Args['account'], lt: bigint, isFirst: boolean): Found | undefined {
  let block;
  try {
    block = lookUpBlock(view, account.workchain, account.id.readBigUInt64BE(0), { by: 'lt', value: lt });
  } catch (error) {
    if (!isFirst) return undefined;
    const { message } = error as DevchainError<'query_refused'>;
    throw refusal(serverCode.fatal, `cannot compute block with specified transaction: ${message}`);
  }
  const tree = visitBlock(view, block);
  const cell = findTransaction(tree, readBlock(tree, tree.root).extra, account.id, lt);
  if (cell !== undefined) return { id: block.id, tree, cell };
  if (!isFirst) return undefined;
  throw refusal(serverCode.fatal, 'cannot locate transaction in block with specified logical time');
}

/** Reads the previous transaction from `transaction$0111 account_addr lt prev_trans_hash prev_trans_lt`. */
function readPrevious(tree: VisitedCells, transaction: number): { lt: bigint; hash: Buffer } {
  const slice = new CellSlice(tree, transaction);
  slice.skip(4 + 256 + 64);
  const hash = slice.hash();
  return { hash, lt: slice.uint64() };
}

/** Handlers of the transactions of an account. */
export const transactionQueries = {
  getOneTransaction: answerOneTransaction,
  getTransactions: answerTransactions,
} satisfies Partial<QueryHandlers>;
