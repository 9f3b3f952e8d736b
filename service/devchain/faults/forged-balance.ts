import type { BlockId } from '#service/decode/block-id.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { merkleProofRoot, readMerkleUpdate } from '#service/decode/merkle.ts';
import { readInternalAddress } from '#service/decode/tlb/message-address.ts';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import type { AccountState } from '#service/liteserver/tl/lite-api.ts';
import type { ChainBlock } from '../chain/chain.ts';
import { visitHeader } from '../chain/header-proof.ts';
import { addMerkleProof, addPrunedBranch } from '#service/decode/merkle-builder.ts';
import { findShardLeaf } from '../chain/shards.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { tipBlock, visitBlock, visitState } from '../chain/chain-view.ts';
import { openMasterchainState, openState } from '../chain/open-as-node.ts';

/**
 * Returns an account's answer with another balance. All hashes are consistent, from the account over the state and the block up to the
 * masterchain block. But no block of the chain has those hashes. An absent account is unchanged.
 */
export function forgeBalance(view: ChainView, answer: AccountState, account: Buffer, nanotons: bigint): AccountState {
  const block = view.chain.find(answer.shardBlock);
  if (block === undefined || answer.state.length === 0) return answer;
  const store = createCellStore();
  const state = visitState(view, block);
  const cell = findShardAccount(state, openState(state, state.root).accounts, account)!.account;
  const forged = withBalance(store, view.chain.states, cell, nanotons);
  const stateProof = addMerkleProof(store, state, new Map([[cell, addPrunedBranch(store, store, forged, 0)]]));
  const header = forgeHeader(store, view, block, stateProof);
  const proof = writeBoc(store, [header, stateProof]);
  const forgedState = writeBoc(store, [forged]);
  if (block.id.workchain === MASTERCHAIN || answer.shardProof.length === 0)
    return { ...answer, proof, state: forgedState };
  const shardBlock = { ...block.id, rootHash: store.hash(merkleProofRoot(store, header), 0) };
  const reference = view.chain.find(answer.id) ?? tipBlock(view);
  return {
    ...answer,
    shardBlock,
    shardProof: forgeShardProof(store, view, reference, shardBlock),
    proof,
    state: forgedState,
  };
}

/** The header proof of a block whose state is what `stateProof` proves. */
function forgeHeader(store: CellStore, view: ChainView, block: ChainBlock, stateProof: number): number {
  const tree = visitBlock(view, block);
  const { stateUpdate } = visitHeader(tree);
  const { oldHash, oldRoot } = readMerkleUpdate(tree.source, stateUpdate);
  const state = merkleProofRoot(store, stateProof);
  const data = Buffer.alloc(69);
  data[0] = 4;
  oldHash.copy(data, 1);
  store.hash(state, 0).copy(data, 33);
  data.writeUInt16BE(tree.depth(oldRoot, 0), 65);
  data.writeUInt16BE(store.depth(state, 0), 67);
  const refs = [addPrunedBranch(store, tree.source, oldRoot, 1), addUpdatedState(store, state)];
  const update = store.add({ kind: 'merkleUpdate', data, bitLength: 552, refs });
  return addMerkleProof(store, tree, new Map([[stateUpdate, update]]));
}

/** The new side of an update inside a proof: a branch pruned at the proof's level. */
function addUpdatedState(store: CellStore, state: number): number {
  const data = Buffer.alloc(36);
  data.set([1, 2]);
  store.hash(state, 0).copy(data, 2);
  data.writeUInt16BE(store.depth(state, 0), 34);
  return store.add({ kind: 'pruned', data, bitLength: 288, refs: [] });
}

/** Bits before a block's root hash in a shard's listing. They are the tree's 0, tag, seqno, register seqno, start and end lt. */
const ROOT_HASH_AT = 1 + 4 + 32 + 32 + 64 + 64;

function forgeShardProof(store: CellStore, view: ChainView, reference: ChainBlock, shardBlock: BlockId): Buffer {
  const state = visitState(view, reference);
  const { shardHashes } = openMasterchainState(state, state.root);
  const { leaf } = findShardLeaf(state, shardHashes, shardBlock.workchain, shardBlock.shard, false)!;
  const rootHash = bitsOf(shardBlock.rootHash, 0, 256);
  const forged = withBits(store, view.chain.states, leaf, ROOT_HASH_AT, ROOT_HASH_AT + 256, rootHash);
  const stateProof = addMerkleProof(store, state, new Map([[leaf, forged]]));
  return writeBoc(store, [forgeHeader(store, view, reference, stateProof), stateProof]);
}

/** Returns an account's cell with another balance. The cells below it stay. */
function withBalance(store: CellStore, table: CellTable, account: number, nanotons: bigint): number {
  const slice = new CellSlice(table, account);
  slice.skip(1);
  readInternalAddress(slice);
  slice.skipVarUint(7);
  slice.skipVarUint(7);
  if (slice.uint(3) === 1) slice.skip(256);
  slice.skip(32);
  if (slice.bit()) slice.skipVarUint(16);
  slice.skip(64);
  const from = slice.position;
  slice.skipVarUint(16);
  const digits = nanotons.toString(16);
  const bytes =
    nanotons === 0n ? Buffer.alloc(0) : Buffer.from(digits.padStart(digits.length + (digits.length & 1), '0'), 'hex');
  const coins = bytes.length.toString(2).padStart(4, '0') + bitsOf(bytes, 0, bytes.length * 8);
  return withBits(store, table, account, from, slice.position, coins);
}

/** A cell with the bits from `from` to `to` replaced by others, written as zeros and ones. */
function withBits(store: CellStore, table: CellTable, cell: number, from: number, to: number, bits: string): number {
  const start = table.dataOffset(cell);
  const length = table.bitLength(cell);
  const own = table.bytes.subarray(start, start + ((length + 7) >> 3));
  const all = bitsOf(own, 0, from) + bits + bitsOf(own, to, length);
  const data = Buffer.alloc((all.length + 7) >> 3);
  for (let at = 0; at < all.length; at++) if (all[at] === '1') data[at >> 3]! |= 128 >> (at & 7);
  const refs = Array.from({ length: table.refCount(cell) }, (_, position) =>
    store.import(table, table.ref(cell, position)),
  );
  return store.add({ data, bitLength: all.length, refs });
}

function bitsOf(bytes: Buffer, from: number, to: number): string {
  let bits = '';
  for (let at = from; at < to; at++) bits += (bytes[at >> 3]! & (128 >> (at & 7))) === 0 ? '0' : '1';
  return bits;
}
