import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { parseProvedBoc } from '#service/decode/boc.ts';
import { createPlainBocWriter } from '#service/decode/plain-boc.ts';
import { shardToSigned } from '#service/decode/shard.ts';
import { readBlockExtra } from '#service/decode/tlb/block-extra.ts';
import { readBlockInfo } from '#service/decode/tlb/block-info.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { hashKey } from '#service/store/hash-key.ts';
import { newestStates } from '#service/store/newest-states.ts';
import type {
  BlockRow,
  BlockRows,
  MessageRow,
  ShardTopRow,
  TransactionLinks,
  TransactionRow,
} from '#service/store/tables.ts';
import type { SourceBlock, SourceBlocks } from '../source.ts';
import type { StateRows } from './account-states.ts';
import { findAccountEdits } from './account-edits.ts';
import { addEditedStates, addStates } from './account-states.ts';
import { blockRow } from './block-row.ts';
import type { FoundTransaction } from './block-transactions.ts';
import { findTransactions } from './block-transactions.ts';
import { changedAccounts } from './changed-accounts.ts';
import { createCodeRows } from './code-rows.ts';
import { MESSAGE_KINDS, readMessageRow } from './message-rows.ts';
import type { ReadMessage } from './message-rows.ts';
import type { BlockReader } from './block-reader.ts';
import { systemMessages } from './system-messages.ts';
import { addZeroState } from './zero-state.ts';

/**
 * Rows of a masterchain block and its shard blocks (service/indexer/README.md#rows): a pure function of the bytes of proved blocks. Some 15
 * us a transaction.
 * Throws DecodeError for a malformed block.
 */
export function rowsOf(source: SourceBlocks): BlockRows {
  const gathering = createGathering(source.mcSeqno);
  for (const zeroState of source.zeroStates) gathering.addZeroState(zeroState);
  for (const block of [source.masterchain, ...source.shards]) gathering.add(openBlock(block, source.globalVersion));
  return gathering.finish(topRows(source));
}

/** @param version of the rules. If unknown, the version of the software: it knows the rules, mostly no newer ones */
function openBlock({ id, boc }: SourceBlock, version: number | undefined): BlockReader {
  const table = parseProvedBoc(boc);
  const { globalId, info: infoCell, extra, stateUpdate } = readBlock(table, table.roots[0]!);
  const info = readBlockInfo(table, infoCell);
  return {
    id,
    table,
    globalId,
    info,
    globalVersion: version ?? info.software?.version,
    extra: readBlockExtra(table, extra),
    stateUpdate,
    signedShard: shardToSigned(id.shard),
    writeBoc: createPlainBocWriter(table),
  };
}

function topRows({ mcSeqno, tops }: SourceBlocks): ShardTopRow[] {
  const own: ShardTopRow = {
    mc_seqno: mcSeqno,
    workchain: MASTERCHAIN,
    shard: shardToSigned(FULL_SHARD),
    seqno: mcSeqno,
  };
  const others = tops
    .filter(({ workchain }) => workchain !== MASTERCHAIN)
    .map(({ workchain, shard, seqno }) => ({ mc_seqno: mcSeqno, workchain, shard: shardToSigned(shard), seqno }));
  return [own, ...others];
}

type OpenTransactionRow = Omit<TransactionRow, 'trace_id'>;

/** A transaction before its messages are matched within these blocks. */
type Found = {
  readonly account: Buffer;
  readonly transaction: FoundTransaction;
  /** Internal messages. */
  readonly sent: readonly Uint8Array[];
  readonly logs: number;
  readonly block: BlockReader;
};

type Gathering = {
  addZeroState(state: SourceBlock): void;
  add(block: BlockReader): void;
  finish(tops: readonly ShardTopRow[]): BlockRows;
};

function createGathering(mcSeqno: number): Gathering {
  const blocks: BlockRow[] = [];
  const found: Found[] = [];
  const messages: MessageRow[] = [];
  /** Internal messages by hash. */
  const sentHere = new Map<string, MessageRow>();
  const sentBySystem = new Set<string>();
  const states: StateRows = { accountStates: [], latest: [], edits: [], codes: createCodeRows() };

  function addTransaction(block: BlockReader, account: Buffer, transaction: FoundTransaction): void {
    const sent: Uint8Array[] = [];
    let logs = 0;
    for (const cell of transaction.outMessages) {
      const { row } = addMessage(block, cell, block.table.hash(cell), transaction.lt);
      if (row.kind === MESSAGE_KINDS.externalOut) logs += 1;
      if (row.kind !== MESSAGE_KINDS.internal) continue;
      sent.push(row.hash);
      sentHere.set(hashKey(row.hash), row);
    }
    found.push({ account, transaction, sent, logs, block });
  }

  function addMessage(block: BlockReader, cell: number, hash: Buffer, lt: bigint): ReadMessage {
    const read = readMessageRow(block.table, cell, hash, lt);
    messages.push(read.row);
    if (read.code !== undefined) states.codes.add(block, read.code);
    return read;
  }

  function settle(one: Found): Settled {
    const { block, transaction, sent, logs } = one;
    const { inMessage, lt } = transaction;
    const linked = (cause: TransactionLinks['cause'], externalHashNorm: Buffer | null = null): TransactionLinks => ({
      cause,
      externalHashNorm,
      sent,
      logs,
    });
    if (inMessage === undefined) return { row: transactionRow(one, mcSeqno, undefined), links: linked('none') };
    const hash = block.table.hash(inMessage);
    const key = hashKey(hash);
    const here = sentHere.get(key);
    if (here !== undefined) return { row: transactionRow(one, mcSeqno, here), links: linked('internal') };
    const { row: taken, normalizedHash } = addMessage(block, inMessage, hash, lt);
    const row = transactionRow(one, mcSeqno, taken);
    if (normalizedHash !== null) return { row, links: linked('external', normalizedHash) };
    return { row, links: linked(sentBySystem.has(key) ? 'system' : 'internal') };
  }

  return {
    addZeroState: (state) => addZeroState(state, states),
    add(block) {
      const changed = changedAccounts(block);
      const activities = findTransactions(block, changed);
      const before = found.length;
      for (const { account, transactions } of activities) {
        for (const transaction of transactions) addTransaction(block, account, transaction);
      }
      for (const hash of systemMessages(block)) sentBySystem.add(hashKey(hash));
      blocks.push(blockRow(block, mcSeqno, found.length - before));
      addStates(block, activities, states);
      addEditedStates(block, findAccountEdits(block, activities, changed), mcSeqno, states);
    },
    finish(shardTops) {
      found.sort(inOrder);
      const all = found.map(settle);
      return {
        mcSeqno,
        blocks,
        shardTops,
        transactions: all.map(({ row }) => row),
        links: all.map(({ links }) => links),
        messages,
        accountStates: states.accountStates,
        latestAccountStates: newestStates(states.latest),
        accountEdits: states.edits,
        codes: states.codes.rows,
      };
    },
  };
}

type Settled = { readonly row: OpenTransactionRow; readonly links: TransactionLinks };

/** @param taken the inbound message */
function transactionRow(
  { account, transaction, block }: Found,
  mcSeqno: number,
  taken: MessageRow | undefined,
): OpenTransactionRow {
  return {
    hash: transaction.hash,
    lt: transaction.lt,
    account,
    utime: transaction.utime,
    mc_seqno: mcSeqno,
    workchain: block.id.workchain,
    shard: block.signedShard,
    seqno: block.id.seqno,
    in_msg_hash: taken?.hash ?? null,
    boc: block.writeBoc(transaction.cell),
    in_opcode: taken?.opcode ?? null,
    in_body_hash: taken?.body_hash ?? null,
  };
}

/** Compares by lt, workchain, account (service/indexer/README.md#traces). */
function inOrder(one: Found, other: Found): number {
  const [lt, otherLt] = [one.transaction.lt, other.transaction.lt];
  if (lt !== otherLt) return lt < otherLt ? -1 : 1;
  return Buffer.compare(one.account, other.account);
}
