import {
  address,
  amount,
  bool,
  bytes,
  defineTable,
  extraCurrencies,
  hash,
  int,
  ints,
  lt,
  nullable,
  shardId,
  small,
  type Row,
} from './columns.ts';

// The ledger: what blocks say, before anybody asks what contracts mean.
// Content is stored once, as the transaction's own BoC: transactions and messages are shown by decoding it, columns are for finding rows.

/** One block of any workchain (service/v3/README.md#blocks). */
export const blocks = defineTable('blocks', ['workchain', 'shard', 'seqno'], {
  workchain: int,
  shard: shardId,
  seqno: int,
  /** The masterchain block whose shard configuration first contains it; itself for the masterchain. */
  mc_seqno: int,
  root_hash: hash,
  file_hash: hash,
  gen_utime: int,
  start_lt: lt,
  end_lt: lt,
  tx_count: int,
  global_id: int,
  version: int,
  flags: int,
  vert_seqno: int,
  vert_seqno_incr: bool,
  after_merge: bool,
  before_split: bool,
  after_split: bool,
  want_merge: bool,
  want_split: bool,
  key_block: bool,
  validator_list_hash_short: int,
  gen_catchain_seqno: int,
  min_ref_mc_seqno: int,
  prev_key_block_seqno: int,
  /** 0 for masterchain blocks. */
  master_ref_seqno: int,
  rand_seed: hash,
  created_by: hash,
  /** Version of the software that made it. Null when the block does not say. */
  software_version: nullable(int),
  /** Shard of the first previous block, and of the second after a merge; their workchain is the block's. */
  prev_shard: shardId,
  prev_seqno: int,
  prev_shard_2: nullable(shardId),
  prev_seqno_2: nullable(int),
  /**
   * Version of the rules that it was made by, where nobody had the key block that of the software: from 12 on messages have flags where they had an IHR fee. Null when
   * nothing tells, and in rows of releases before.
   */
  global_version: nullable(int),
});

/** The blocks that are tops in the shard configuration of a masterchain block, itself included. */
export const shardTops = defineTable('shard_tops', ['mc_seqno', 'workchain', 'shard'], {
  mc_seqno: int,
  workchain: int,
  shard: shardId,
  seqno: int,
});

/** One transaction (service/v3/README.md#transactions); partitioned by lt. */
export const transactions = defineTable('transactions', ['hash', 'lt'], {
  hash,
  lt,
  account: address,
  utime: int,
  mc_seqno: int,
  workchain: int,
  shard: shardId,
  seqno: int,
  /** Hash of the trace's root transaction. */
  trace_id: hash,
  /** Null for tick-tock, split and merge transactions. */
  in_msg_hash: nullable(hash),
  /** Of the inbound message, as in its own row: who took messages of a kind is found in the order of transactions. */
  in_opcode: nullable(int),
  in_body_hash: nullable(hash),
  /** The transaction's cell with all its messages. */
  boc: bytes,
});

/**
 * One message (service/v3/README.md#messages); rows never change. The consumer is the transaction with this `in_msg_hash`.
 * The producer is the last transaction of `source` before `created_lt`. Partitioned by lt.
 */
export const messages = defineTable('messages', ['hash', 'lt'], {
  hash,
  /** `created_lt`; of external-in messages the lt of the transaction that took it. */
  lt,
  /** Of external-in messages, when it differs from the hash. */
  hash_norm: nullable(hash),
  /** 0 external-in, 1 internal, 2 external-out. */
  kind: small,
  source: nullable(address),
  destination: nullable(address),
  created_lt: nullable(lt),
  created_at: nullable(int),
  /** First 32 bits of the body, as signed. */
  opcode: nullable(int),
  body_hash: hash,
});

/** One state of an account, by the hash in transactions (service/v3/README.md#account-states-of-transactions). */
export const accountStates = defineTable('account_states', ['hash'], {
  hash,
  balance: amount,
  /** Null when it has none; empty when it has some that blocks did not show. */
  extra_currencies: nullable(extraCurrencies),
  /** 0 uninit, 1 frozen, 2 active, 3 nonexist: as `AccountStatus` is encoded. */
  status: small,
  frozen_hash: nullable(hash),
  data_hash: nullable(hash),
  code_hash: nullable(hash),
});

/** Newest state of every account (service/v3/README.md#account-states). */
export const latestAccountStates = defineTable('latest_account_states', ['account'], {
  account: address,
  hash,
  balance: amount,
  extra_currencies: nullable(extraCurrencies),
  status: small,
  utime: int,
  last_trans_hash: hash,
  last_trans_lt: lt,
  frozen_hash: nullable(hash),
  data_hash: nullable(hash),
  code_hash: nullable(hash),
  /**
   * The newest data that a block carried whole, its hash, and the lt of the transaction after which it was so: merged on its own, newest lt first,
   * so that the row is the same whatever the order of blocks. It is the account's data when the hash is `data_hash`; else readers ask lite servers.
   */
  data_boc: nullable(bytes),
  data_boc_hash: nullable(hash),
  data_boc_lt: nullable(lt),
  /** Start lt of the block that set this state without a transaction; null when the last transaction set it. */
  changed_lt: nullable(lt),
});

/** A change of an account by a block that has no transaction of the account. */
export const accountEdits = defineTable('account_edits', ['account', 'lt'], {
  account: address,
  /** Start lt of the block: above every earlier transaction of the account, below every later one. */
  lt,
  mc_seqno: int,
  /** Hash of the state that the block sets. */
  hash,
});

/** Code of contracts. */
export const codes = defineTable('codes', ['code_hash'], {
  code_hash: hash,
  boc: bytes,
  /** Ids of the method dictionary, ascending; null when the code has another shape. */
  methods: nullable(ints),
});

/** One trace (service/indexer/README.md#traces). */
export const traces = defineTable('traces', ['trace_id'], {
  /** Hash of the root transaction. */
  trace_id: hash,
  /** Hash of the root's inbound message. */
  external_hash: nullable(hash),
  external_hash_norm: nullable(hash),
  mc_seqno_start: int,
  mc_seqno_end: int,
  start_lt: lt,
  start_utime: int,
  end_lt: lt,
  end_utime: int,
  /** 0 complete, 1 pending, 2 broken. */
  state: small,
  /** Internal messages that nobody has consumed yet. */
  pending_edges: int,
  /** Messages that arrived, the root's inbound one and logs included. */
  edges: int,
  /** Transactions. */
  nodes: int,
});

/** Accounts of a trace, in the order in which their traces ended. */
export const traceAccounts = defineTable('trace_accounts', ['account', 'trace_id'], {
  account: address,
  trace_id: hash,
  end_lt: lt,
  end_utime: int,
});

/**
 * Messages of which the index has seen one end only; empty of those both ends of which are known. What follows the head, and what stitches ranges
 * of the past together, starts from it.
 */
export const openEdges = defineTable('open_edges', ['msg_hash'], {
  msg_hash: hash,
  trace_id: hash,
  /** True: produced and not consumed. False: consumed, and its producer is not indexed. */
  produced: bool,
});

export type BlockRow = Row<typeof blocks>;
export type ShardTopRow = Row<typeof shardTops>;
export type TransactionRow = Row<typeof transactions>;
export type MessageRow = Row<typeof messages>;
export type AccountStateRow = Row<typeof accountStates>;
export type LatestAccountStateRow = Row<typeof latestAccountStates>;
export type AccountEditRow = Row<typeof accountEdits>;
export type CodeRow = Row<typeof codes>;
export type TraceRow = Row<typeof traces>;
export type TraceAccountRow = Row<typeof traceAccounts>;
export type OpenEdgeRow = Row<typeof openEdges>;

/** How a transaction hangs together with others: what traces are made of. */
export type TransactionLinks = {
  /** What the inbound message makes of it: `system` is sent by a masterchain block itself, `none` is tick-tock, split and merge. */
  readonly cause: 'none' | 'external' | 'system' | 'internal';
  /** Of external-in messages, whether it differs from the hash or not. */
  readonly externalHashNorm: Uint8Array | null;
  /** Hashes of the internal messages it sent. */
  readonly sent: readonly Uint8Array[];
  /** Number of its messages to outside. */
  readonly logs: number;
};

/** All that one masterchain block and the shard blocks it brings say; traces follow from the transactions in order. */
export type BlockRows = {
  readonly mcSeqno: number;
  readonly blocks: readonly BlockRow[];
  readonly shardTops: readonly ShardTopRow[];
  /** By lt, workchain, account; `trace_id` is filled by the trace assembly. */
  readonly transactions: readonly Omit<TransactionRow, 'trace_id'>[];
  /** Of each transaction, in the same order. */
  readonly links: readonly TransactionLinks[];
  /** Each message once: of internal ones that no transaction here sent, whoever took them. */
  readonly messages: readonly MessageRow[];
  readonly accountStates: readonly AccountStateRow[];
  /** Each account once. */
  readonly latestAccountStates: readonly LatestAccountStateRow[];
  readonly accountEdits: readonly AccountEditRow[];
  readonly codes: readonly CodeRow[];
};
