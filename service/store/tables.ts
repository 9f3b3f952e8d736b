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

// The ledger: contents of blocks, before interpretation of contracts.
// Content is stored once, as the transaction's own BoC. Transactions and messages are rendered from it; columns serve to find rows.

/** A block of any workchain (service/v3/README.md#blocks). */
export const blocks = defineTable('blocks', ['workchain', 'shard', 'seqno'], {
  workchain: int,
  shard: shardId,
  seqno: int,
  /** The masterchain block whose shard configuration first contains the block; itself for the masterchain. */
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
  /** Version of the software that made the block. Null if the block does not state it. */
  software_version: nullable(int),
  /** Shard of the first previous block, and of the second after a merge; their workchain is the block's. */
  prev_shard: shardId,
  prev_seqno: int,
  prev_shard_2: nullable(shardId),
  prev_seqno_2: nullable(int),
  /**
   * Version of the rules that made the block; without a readable key block the version of the software. From 12 on messages have flags in
   * place of an IHR fee. Null if unknown, and in rows of older releases.
   */
  global_version: nullable(int),
});

/** Top blocks in the shard configuration of a masterchain block, itself included. */
export const shardTops = defineTable('shard_tops', ['mc_seqno', 'workchain', 'shard'], {
  mc_seqno: int,
  workchain: int,
  shard: shardId,
  seqno: int,
});

/** A transaction (service/v3/README.md#transactions); partitioned by lt. */
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
  /** Opcode of the inbound message, as in its own row. Consumers of messages of a kind are found in the order of transactions. */
  in_opcode: nullable(int),
  in_body_hash: nullable(hash),
  /** The transaction's cell with all its messages. */
  boc: bytes,
});

/**
 * A message (service/v3/README.md#messages); rows never change. The consumer is the transaction with this `in_msg_hash`.
 * The producer is the last transaction of `source` before `created_lt`. Partitioned by lt.
 */
export const messages = defineTable('messages', ['hash', 'lt'], {
  hash,
  /** `created_lt`; for external-in messages the lt of the receiving transaction. */
  lt,
  /** Normalized hash of external-in messages, if it differs from the hash. */
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

/** A state of an account, by the hash in transactions (service/v3/README.md#account-states-of-transactions). */
export const accountStates = defineTable('account_states', ['hash'], {
  hash,
  balance: amount,
  /** Null without extra currencies; empty if blocks did not show them. */
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
   * Newest whole data in a block, its hash, and the lt of the transaction before it. Merged separately, newest lt first, so that the row
   * does not depend on the order of blocks. It is the account's data if the hash equals `data_hash`; else readers ask lite servers.
   */
  data_boc: nullable(bytes),
  data_boc_hash: nullable(hash),
  data_boc_lt: nullable(lt),
  /** Start lt of the block that set this state without a transaction; null when the last transaction set it. */
  changed_lt: nullable(lt),
});

/** A change of an account by a block without a transaction of the account. */
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

/** A trace (service/indexer/README.md#traces). */
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
  /** Internal messages without a consumer yet. */
  pending_edges: int,
  /** Messages that arrived, the root's inbound message and logs included. */
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
 * Messages with a single indexed end; messages with both ends are removed. The head's followers, and the stitching of ranges of the past,
 * start from here.
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

/** Links of a transaction to other transactions: the material of traces. */
export type TransactionLinks = {
  /** Kind of the inbound message: `system` is sent by a masterchain block itself, `none` is tick-tock, split and merge. */
  readonly cause: 'none' | 'external' | 'system' | 'internal';
  /** Normalized hash of external-in messages, also when it equals the hash. */
  readonly externalHashNorm: Uint8Array | null;
  /** Hashes of the sent internal messages. */
  readonly sent: readonly Uint8Array[];
  /** Number of its messages to outside. */
  readonly logs: number;
};

/** Contents of a masterchain block and the shard blocks it includes; traces follow from the transactions in order. */
export type BlockRows = {
  readonly mcSeqno: number;
  readonly blocks: readonly BlockRow[];
  readonly shardTops: readonly ShardTopRow[];
  /** Transactions by lt, workchain, account; the trace assembly fills `trace_id`. */
  readonly transactions: readonly Omit<TransactionRow, 'trace_id'>[];
  /** Links of each transaction, in the same order. */
  readonly links: readonly TransactionLinks[];
  /** Each message once. Internal messages without a sender here are included with their consumer. */
  readonly messages: readonly MessageRow[];
  readonly accountStates: readonly AccountStateRow[];
  /** Each account once. */
  readonly latestAccountStates: readonly LatestAccountStateRow[];
  readonly accountEdits: readonly AccountEditRow[];
  readonly codes: readonly CodeRow[];
};
