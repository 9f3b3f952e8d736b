import type { BlockId } from '../decode/block-id.ts';
import { FULL_SHARD, MASTERCHAIN, blockText } from '../decode/block-id.ts';
import type { Boc } from '../decode/boc.ts';
import { parseBoc } from '../decode/boc.ts';
import type { CellStore } from '../decode/cell-store.ts';
import { createCellStore } from '../decode/cell-store.ts';
import { applyMerkleUpdate } from '../decode/merkle.ts';
import { recordingInvalid } from './errors.ts';
import { lowBit } from './shards.ts';
import type { ShardTop } from './shards.ts';
import { listShards } from './shards.ts';
import type { Slices } from './slices.ts';
import type { SignatureSet, Tape, TapeBlock, ZeroState } from './tape.ts';
import { openBlock, openHeader, openMasterchainState, openPrevious, openState } from './walk.ts';
import type { BlockHeader, BlockReference } from './walk.ts';

/** Parsed blocks kept: a page of transactions and the links of one proof touch some twenty. */
const parsedBlocksMax = 64;

/** A block of the chain with what the servers look it up by. */
export type ChainBlock = {
  readonly id: BlockId;
  readonly bytes: Buffer;
  /** First masterchain block that has this one in its history; a masterchain block's own seqno. */
  readonly masterchainSeqno: number;
  readonly header: BlockHeader;
  /** The block it follows, two after a merge. */
  readonly previous: readonly BlockId[];
  /** Root of the state after the block, in `Chain.states`. */
  readonly state: number;
  /** Newest blocks of the shards, of a masterchain block. */
  readonly shards: readonly ShardTop[];
};

/** A recorded chain with every state rebuilt. */
export type Chain = {
  /** All states; cells that states share stand once. */
  readonly states: CellStore;
  readonly zeroStates: readonly (ZeroState & { readonly state: number })[];
  readonly lastSeqno: number;
  /** By full id; zerostates are no blocks. */
  find(id: BlockId): ChainBlock | undefined;
  /** A masterchain block, 1 to `lastSeqno`. */
  masterchain(seqno: number): ChainBlock | undefined;
  /** Blocks of a workchain whose shards hold the prefix, oldest first. */
  along(workchain: number, prefix: bigint): readonly ChainBlock[];
  /** Seqnos of the key blocks, ascending. */
  readonly keyBlocks: readonly number[];
  signatures(seqno: number): SignatureSet | undefined;
  /** The block's cells; kept while recent. */
  parse(block: ChainBlock): Boc;
};

/**
 * Rebuilds a recorded chain: checks that every block is what its id says and follows what it says, and applies its update
 * to the state before (after a merge: to both halves' states under `split_state`).
 * @throws DevchainError `recording_invalid`
 */
export async function buildChain(tape: Tape, slices: Slices): Promise<Chain> {
  const states = createCellStore();
  const importState = (zero: ZeroState): ZeroState & { state: number } => {
    const boc = parseBoc(zero.bytes);
    return { ...zero, state: states.import(boc, boc.roots[0]!) };
  };
  const zeroStates = [tape.masterchainZeroState, tape.basechainZeroState].map(importState);
  const blocks = new Map<string, ChainBlock>();
  const stateAfter = (id: BlockId): number | undefined =>
    id.seqno === 0
      ? zeroStates.find((zero) => zero.id.workchain === id.workchain)?.state
      : blocks.get(keyOf(id))?.state;
  for (const recorded of tape.blocks) {
    try {
      blocks.set(keyOf(recorded.id), buildBlock(states, recorded, stateAfter));
    } catch (error) {
      throw recordingInvalid(tape.path, `Block ${blockText(recorded.id)} does not follow from the recording.`, error);
    }
    await slices.rest();
  }
  return createChain(tape, states, zeroStates, [...blocks.values()]);
}

function createChain(
  tape: Tape,
  states: CellStore,
  zeroStates: readonly (ZeroState & { state: number })[],
  blocks: readonly ChainBlock[],
): Chain {
  const byId = new Map(blocks.map((block) => [keyOf(block.id), block]));
  const masterchain = blocks.filter((block) => block.id.workchain === MASTERCHAIN);
  masterchain.forEach((block, position) => {
    if (block.id.seqno !== position + 1)
      throw recordingInvalid(tape.path, 'The masterchain of the recording has a gap.');
  });
  const byShard = Map.groupBy(blocks, (block) => shardKey(block.id.workchain, block.id.shard));
  const parsed = new Map<ChainBlock, Boc>();
  return {
    states,
    zeroStates,
    lastSeqno: masterchain.length,
    find: (id) => byId.get(keyOf(id)),
    masterchain: (seqno) => masterchain[seqno - 1],
    along: (workchain, prefix) =>
      shardsOf(prefix)
        .flatMap((shard) => byShard.get(shardKey(workchain, shard)) ?? [])
        .toSorted((one, other) => one.id.seqno - other.id.seqno),
    keyBlocks: masterchain.filter((block) => block.header.keyBlock).map((block) => block.id.seqno),
    signatures: (seqno) => tape.signatures.get(seqno),
    parse(block) {
      const known = parsed.get(block);
      if (known !== undefined) parsed.delete(block);
      const boc = known ?? parseBoc(block.bytes);
      parsed.set(block, boc);
      if (parsed.size > parsedBlocksMax) parsed.delete(parsed.keys().next().value!);
      return boc;
    },
  };
}

function buildBlock(
  states: CellStore,
  recorded: TapeBlock,
  stateAfter: (id: BlockId) => number | undefined,
): ChainBlock {
  const { id } = recorded;
  const boc = parseBoc(recorded.bytes);
  const root = boc.roots[0]!;
  if (!boc.hashEquals(root, id.rootHash)) throw new Error('The root hash differs.');
  const { info, stateUpdate } = openBlock(boc, root);
  const header = openHeader(boc, info);
  if (header.seqno !== id.seqno || header.workchain !== id.workchain || header.shard !== id.shard) {
    throw new Error('The header names another block.');
  }
  const previous = previousIds(id, header, openPrevious(boc, header));
  const before = previous.map((one) => {
    const state = stateAfter(one);
    if (state === undefined) throw new Error(`The state of ${blockText(one)} is not there.`);
    return state;
  });
  const start = before.length === 1 ? before[0]! : joinStates(states, before);
  const state = applyMerkleUpdate(states, boc, stateUpdate, start);
  return { ...recorded, header, previous, state, shards: listTops(states, id, state) };
}

/** `split_state#5f327da5`: what two halves are before the block that merges them. */
function joinStates(states: CellStore, halves: readonly number[]): number {
  return states.add({ data: Buffer.from('5f327da5', 'hex'), bitLength: 32, refs: halves });
}

function listTops(states: CellStore, id: BlockId, state: number): readonly ShardTop[] {
  if (id.workchain !== MASTERCHAIN) return [];
  const { custom } = openState(states, state);
  return custom === undefined ? [] : listShards(states, openMasterchainState(states, custom).shards);
}

/** Before a split stands the parent, before a merge the two children, else the shard itself. */
function previousIds(id: BlockId, header: BlockHeader, references: readonly BlockReference[]): BlockId[] {
  const low = lowBit(id.shard);
  const before = header.afterMerge
    ? [id.shard - (low >> 1n), id.shard + (low >> 1n)]
    : [header.afterSplit ? (id.shard - low) | (low << 1n) : id.shard];
  return references.map(({ seqno, rootHash, fileHash }, position) => ({
    workchain: id.workchain,
    shard: before[position]!,
    seqno,
    rootHash,
    fileHash,
  }));
}

/** All shards that could hold a prefix, from the whole workchain down. */
function shardsOf(prefix: bigint): bigint[] {
  const shards: bigint[] = [];
  for (let low = FULL_SHARD; low > 8n; low >>= 1n) shards.push((prefix & BigInt.asUintN(64, -(low << 1n))) | low);
  return shards;
}

function shardKey(workchain: number, shard: bigint): string {
  return `${workchain}:${shard.toString(16)}`;
}

function keyOf(id: BlockId): string {
  return `${shardKey(id.workchain, id.shard)}:${id.seqno}:${id.rootHash.toString('hex')}:${id.fileHash.toString('hex')}`;
}
