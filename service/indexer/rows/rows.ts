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
import { addStates } from './account-states.ts';
import { blockRow } from './block-row.ts';
import type { FoundTransaction } from './block-transactions.ts';
import { findTransactions } from './block-transactions.ts';
import { createCodeRows } from './code-rows.ts';
import { MESSAGE_KINDS, readMessageRow } from './message-rows.ts';
import type { ReadMessage } from './message-rows.ts';
import type { OpenBlock } from './open-block.ts';
import { systemMessages } from './system-messages.ts';
import { addZeroState } from './zero-state.ts';

/**
 * The rows of one masterchain block and the shard blocks it brings (indexing sheet 3): a pure function of their bytes, which are those of
 * proved blocks. Some 15 us a transaction.
 * Throws DecodeError when a block is none.
 */
export function rowsOf(source: SourceBlocks): BlockRows {
  const gathering = createGathering(source.mcSeqno);
  for (const zeroState of source.zeroStates) gathering.addZeroState(zeroState);
  for (const block of [source.masterchain, ...source.shards]) gathering.add(openBlock(block));
  return gathering.finish(topRows(source));
}

function openBlock({ id, boc }: SourceBlock): OpenBlock {
  const table = parseProvedBoc(boc);
  const { globalId, info, extra, stateUpdate } = readBlock(table, table.roots[0]!);
  return {
    id,
    table,
    globalId,
    info: readBlockInfo(table, info),
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

/** A transaction before it is known which messages were sent in these blocks. */
type Found = {
  readonly row: Omit<OpenTransactionRow, 'in_opcode' | 'in_body_hash'> & { readonly in_msg_hash: Buffer | null };
  readonly sent: readonly Uint8Array[];
  readonly logs: number;
  readonly block: OpenBlock;
  readonly inMessage: number | undefined;
};

type Gathering = {
  addZeroState(state: SourceBlock): void;
  add(block: OpenBlock): void;
  finish(tops: readonly ShardTopRow[]): BlockRows;
};

function createGathering(mcSeqno: number): Gathering {
  const blocks: BlockRow[] = [];
  const found: Found[] = [];
  const messages: MessageRow[] = [];
  /** Internal messages by hash. */
  const sentHere = new Map<string, MessageRow>();
  const sentBySystem = new Set<string>();
  const states: StateRows = { accountStates: [], latest: [], codes: createCodeRows() };

  function addTransaction(block: OpenBlock, account: Buffer, one: FoundTransaction): void {
    const { table, id } = block;
    const sent: Uint8Array[] = [];
    let logs = 0;
    for (const cell of one.outMessages) {
      const { row } = addMessage(block, cell, table.hash(cell), one.lt);
      if (row.kind === MESSAGE_KINDS.externalOut) logs += 1;
      if (row.kind !== MESSAGE_KINDS.internal) continue;
      sent.push(row.hash);
      sentHere.set(hashKey(row.hash), row);
    }
    const { inMessage } = one;
    const row = {
      hash: table.hash(one.cell),
      lt: one.lt,
      account,
      utime: one.utime,
      mc_seqno: mcSeqno,
      workchain: id.workchain,
      shard: block.signedShard,
      seqno: id.seqno,
      in_msg_hash: inMessage === undefined ? null : table.hash(inMessage),
      boc: block.writeBoc(one.cell),
    };
    found.push({ row, sent, logs, block, inMessage });
  }

  function addMessage(block: OpenBlock, cell: number, hash: Buffer, lt: bigint): ReadMessage {
    const read = readMessageRow(block.table, cell, hash, lt);
    messages.push(read.row);
    if (read.code !== undefined) states.codes.add(block, read.code);
    return read;
  }

  function settle({ row, sent, logs, block, inMessage }: Found): Settled {
    const links = { externalHashNorm: null, sent, logs };
    const hash = row.in_msg_hash;
    if (inMessage === undefined || hash === null) return settled(row, undefined, { cause: 'none', ...links });
    const here = sentHere.get(hashKey(hash));
    if (here !== undefined) return settled(row, here, { cause: 'internal', ...links });
    const read = addMessage(block, inMessage, hash, row.lt);
    if (read.normalizedHash !== null) {
      return settled(row, read.row, { ...links, cause: 'external', externalHashNorm: read.normalizedHash });
    }
    return settled(row, read.row, { ...links, cause: sentBySystem.has(hashKey(hash)) ? 'system' : 'internal' });
  }

  return {
    addZeroState: (state) => addZeroState(state, states),
    add(block) {
      const activities = findTransactions(block);
      const before = found.length;
      for (const { account, transactions } of activities) {
        for (const transaction of transactions) addTransaction(block, account, transaction);
      }
      for (const hash of systemMessages(block)) sentBySystem.add(hashKey(hash));
      blocks.push(blockRow(block, mcSeqno, found.length - before));
      addStates(block, activities, states);
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
        codes: states.codes.rows,
      };
    },
  };
}

type Settled = { readonly row: OpenTransactionRow; readonly links: TransactionLinks };

/** @param taken the inbound message */
function settled(row: Found['row'], taken: MessageRow | undefined, links: TransactionLinks): Settled {
  return { row: { ...row, in_opcode: taken?.opcode ?? null, in_body_hash: taken?.body_hash ?? null }, links };
}

/** By lt, workchain, account (indexing sheet 4). */
function inOrder({ row: one }: Found, { row: other }: Found): number {
  if (one.lt !== other.lt) return one.lt < other.lt ? -1 : 1;
  return Buffer.compare(one.account, other.account);
}
