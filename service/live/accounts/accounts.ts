import type { BlockId } from '#service/decode/block-id.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';

/** An account's address without its spelling: workchain (signed 32 bits) and 32-byte id. */
export type AccountId = { readonly workchain: number; readonly id: Buffer };

/** An account as it stands in one masterchain block, proved to the configured trust level. */
export type LiveAccount = {
  readonly account: AccountId;
  readonly state: 'active' | 'frozen' | 'uninitialized';
  /** Nanotons; 0 for an absent account. */
  readonly balance: bigint;
  /** In dictionary order; `id` is signed 32 bits. */
  readonly extraCurrencies: readonly { readonly id: number; readonly amount: bigint }[];
  /** Hash of the account's cell; null for an absent account. */
  readonly stateHash: Buffer | null;
  /** From the shard account entry; lt 0 and a zero hash when there was no transaction. */
  readonly lastTransaction: { readonly lt: bigint; readonly hash: Buffer };
  /** The masterchain block the read is pinned to. */
  readonly masterchainBlock: BlockId;
  /** The shard block that holds the state, and its `gen_utime` in unix seconds. */
  readonly shardBlock: BlockId;
  readonly shardUtime: number;
  /** BoC (one root, CRC32C, no index) of the code and data; null unless active and present. */
  readonly code: Buffer | null;
  readonly data: Buffer | null;
  /** Hash of the root cell of the code, of the proved account; null without code. */
  readonly codeHash?: Buffer | null;
  /** 32 bytes; null unless frozen. */
  readonly frozenHash: Buffer | null;
  /** Listed in config parameter 44 with `suspended_until` after `shardUtime`. */
  readonly suspended: boolean;
};

/** The served masterchain head. */
export type LiveMasterchainInfo = {
  readonly last: BlockId;
  /** Hash of the masterchain state after `last`, 32 bytes. */
  readonly stateRootHash: Buffer;
  /** The network's zerostate as lite servers report it: workchain -1, root and file hash. */
  readonly init: { readonly workchain: number; readonly rootHash: Buffer; readonly fileHash: Buffer };
};

/** Reads of accounts and of the head. Errors: PoolError, ProofError (see their modules). */
export type LiveAccounts = {
  /** @param seqno masterchain seqno to read at, 1..2^31-1; the served head when absent */
  readAccount(account: AccountId, seqno: number | undefined, context: ReadContext): Promise<LiveAnswer<LiveAccount>>;
  /** `ShardAccount` as BoC (one root, CRC32C); of an absent account one that holds `account_none`. */
  readShardAccount(account: AccountId, seqno: number | undefined, context: ReadContext): Promise<LiveAnswer<Buffer>>;
  readMasterchainInfo(context: ReadContext): Promise<LiveAnswer<LiveMasterchainInfo>>;
};
