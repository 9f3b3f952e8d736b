import type { BlockId } from '../decode/block-id.ts';
import type { CellTable } from '../decode/cell-table.ts';
import type { ShardDescr } from '../decode/tlb/shard-descr.ts';
import { blockText, FULL_SHARD, MASTERCHAIN, sameBlock } from '../decode/block-id.ts';
import { CellSlice } from '../decode/cell-slice.ts';
import { lookupHashmap, uintKey } from '../decode/hashmap.ts';
import { SHARD_PREFIX_BITS_MAX, shardChildren, shardContainsPrefix, shardPrefixBits } from '../decode/shard.ts';
import { readShardDescr } from '../decode/tlb/shard-descr.ts';
import type { ShardInfoAnswer } from './answers.ts';
import { ProofError } from './errors.ts';
import type { ProvedHeader } from './header-proof.ts';
import type { ProvedBlockCache, KnownShards } from './proved-block-cache.ts';
import { requireBlock } from './header-proof.ts';
import type { ProvedCell } from './proof-cells.ts';
import { openRoot, proving } from './proof-cells.ts';
import { readStateExtra, readStateProof } from './state-proof.ts';

export type ShardExpectation = {
  /** A masterchain block. */
  readonly block: BlockId;
  readonly workchain: number;
  /** Shard; the listed shard that covers it is wanted. */
  readonly shard: bigint;
  /** True when only the shard itself is wanted. */
  readonly exact: boolean;
};

/** Shard in the list of a masterchain state; undefined when the state is proved to list none there. */
export type ProvedShard = { readonly shard: ShardDescr | undefined; readonly masterchain: ProvedHeader };

/**
 * Checks an answer of `getShardInfo` (service/proof/README.md#shard-list).
 * @throws ProofError
 */
export function checkShardInfo(expected: ShardExpectation, answer: ShardInfoAnswer): ProvedShard {
  const subject = 'shardInfo';
  requireBlock(subject, expected.block, answer.id);
  return proving(subject, () => {
    const bits = shardPrefixBits(expected.shard);
    const proved = readShardProof(subject, answer.shardProof, expected.block, expected.workchain, expected.shard, bits);
    const { masterchain } = proved;
    const isWanted = !expected.exact || proved.shard?.block.shard === expected.shard;
    const shard = isWanted ? proved.shard : undefined;
    requireShardBlock(subject, shard, answer.shardBlock);
    requireDescr(subject, proved, shard, answer.shardDescr);
    return { shard, masterchain };
  });
}

/**
 * Reads the shard of an account in a masterchain block; `shardBlock` is its claimed block.
 * @param known cache of proved facts, to which this function adds
 */
export function readShardOfAccount(
  subject: string,
  shardProof: Buffer,
  masterchainBlock: BlockId,
  shardBlock: BlockId,
  account: { readonly workchain: number; readonly prefix: bigint },
  known: ProvedBlockCache | undefined,
): ProvedShard {
  const { workchain, prefix } = account;
  const read = (): KnownShards => readShards(subject, shardProof, masterchainBlock);
  const shards = known === undefined ? read() : known.shards(masterchainBlock, shardProof, read);
  // Search for the account's deepest shard. Its prefix may be 0, which is no shard.
  const proved = findShard(shards, workchain, prefix | 1n, SHARD_PREFIX_BITS_MAX);
  requireShardBlock(subject, proved.shard, shardBlock);
  return proved;
}

type FoundShard = ProvedShard & { readonly leaf: ProvedCell | undefined };

/** Reads the leaf for the prefix's first bits in the shards of a masterchain block's state. */
function readShardProof(
  subject: string,
  shardProof: Buffer,
  masterchainBlock: BlockId,
  workchain: number,
  prefix: bigint,
  bits: number,
): FoundShard {
  return findShard(readShards(subject, shardProof, masterchainBlock), workchain, prefix, bits);
}

function readShards(subject: string, shardProof: Buffer, masterchainBlock: BlockId): KnownShards {
  const { header, cell } = readStateProof(`${subject}.shardProof`, shardProof, masterchainBlock);
  const { shardHashes } = readStateExtra(`${subject}.shardProof`, cell);
  return { masterchain: header, table: cell.table, shardHashes };
}

function findShard(
  { masterchain, table, shardHashes }: KnownShards,
  workchain: number,
  prefix: bigint,
  bits: number,
): FoundShard {
  return { ...findListedShard(table, shardHashes, workchain, prefix, bits), masterchain };
}

/** Shard in a list of shards, and the cell of its leaf in the tree. */
export type ListedShard = { readonly shard: ShardDescr | undefined; readonly leaf: ProvedCell | undefined };

/**
 * Finds the leaf of `shard_hashes` (`HashmapE 32 ^(BinTree ShardDescr)`) at the first `bits` bits of a shard. Returns none when the workchain is not
 * listed or its tree still forks there. The masterchain is in no list. A lite server does not open the list for the masterchain, nor for a value that
 * is no shard. The node's function is `ShardConfig::get_shard_hash_raw_from`.
 */
export function findListedShard(
  table: CellTable,
  shardHashes: number | undefined,
  workchain: number,
  shard: bigint,
  bits: number,
): ListedShard {
  const mayBeListed = workchain !== MASTERCHAIN && workchain !== NO_BLOCK.workchain && shard !== NO_BLOCK.shard;
  const tree = mayBeListed ? lookupHashmap(table, shardHashes, 32, uintKey(workchain, 32)) : undefined;
  const found = tree && findLeaf(table, tree.ref(), shard, bits);
  if (found === undefined) return { shard: undefined, leaf: undefined };
  const { slice } = found;
  return { shard: readShardDescr(slice, workchain, found.shard), leaf: { table, cell: slice.cell } };
}

/** `bt_leaf$0`, `bt_fork$1`: goes one step down for each bit. */
function findLeaf(
  table: CellTable,
  root: number,
  prefix: bigint,
  bits: number,
): { slice: CellSlice; shard: bigint } | undefined {
  let shard = FULL_SHARD;
  let slice = new CellSlice(table, root);
  for (let depth = 0; slice.bit(); depth++) {
    if (depth === Math.min(bits, SHARD_PREFIX_BITS_MAX)) return undefined;
    const [left, right] = shardChildren(shard);
    const goesLeft = shardContainsPrefix(left, prefix);
    shard = goesLeft ? left : right;
    slice = new CellSlice(table, table.ref(slice.cell, goesLeft ? 0 : 1));
  }
  return { slice, shard };
}

function requireShardBlock(subject: string, shard: ShardDescr | undefined, claimed: BlockId): void {
  if (sameBlock(shard?.block ?? NO_BLOCK, claimed)) return;
  const expected = shard === undefined ? 'no shard' : blockText(shard.block);
  throw new ProofError('not_contained', { subject: `${subject}.shardBlock`, expected, found: blockText(claimed) });
}

/** Requires that `shardDescr` repeats the leaf's cell. */
function requireDescr(subject: string, { leaf }: FoundShard, shard: ShardDescr | undefined, descr: Buffer): void {
  const where = `${subject}.shardDescr`;
  if (shard === undefined || leaf === undefined) {
    if (descr.length > 0) throw new ProofError('not_contained', { subject: where, expected: 'nothing' });
    return;
  }
  const root = openRoot(where, descr);
  if (!root.table.hashEquals(root.cell, leaf.table.hash(leaf.cell, 0))) {
    throw new ProofError('hash_mismatch', { subject: where, expected: 'the leaf of the proof' });
  }
}

const NO_HASH = Buffer.alloc(32);
/** Block id that means "no block" in an answer (service/liteserver/README.md#block-ids). */
const NO_BLOCK: BlockId = { workchain: -0x8000_0000, shard: 0n, seqno: 0, rootHash: NO_HASH, fileHash: NO_HASH };
