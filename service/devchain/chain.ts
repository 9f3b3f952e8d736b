import type { BlockId } from '../decode/block-id.ts';
import { MASTERCHAIN, blockText } from '../decode/block-id.ts';
import type { Boc } from '../decode/boc.ts';
import { parseBoc } from '../decode/boc.ts';
import type { CellStore } from '../decode/cell-store.ts';
import { createCellStore } from '../decode/cell-store.ts';
import { applyMerkleUpdate } from '../decode/merkle.ts';
import { shardContainsPrefix } from '../decode/shard.ts';
import { readBlock } from '../decode/tlb/block.ts';
import type { BlockInfo } from '../decode/tlb/block-info.ts';
import { previousBlocks, readBlockInfo } from '../decode/tlb/block-info.ts';
import type { ShardDescr } from '../decode/tlb/shard-descr.ts';
import { listShards } from '../decode/tlb/shard-descr.ts';
import { addSplitState } from '../decode/tlb/shard-state.ts';
import { recordingInvalid } from './errors.ts';
import type { Slices } from './slices.ts';
import type { SignatureSet, Tape, TapeBlock, ZeroState } from './tape.ts';
import { openMasterchainState } from './walk.ts';

/** Parsed blocks kept: a page of transactions and the links of one proof touch some twenty. */
const parsedBlocksMax = 64;

/** A block of the chain with what the servers look it up by. */
export type ChainBlock = {
  readonly id: BlockId;
  readonly bytes: Buffer;
  /** First masterchain block that has this one in its history; a masterchain block's own seqno. */
  readonly masterchainSeqno: number;
  readonly header: BlockInfo;
  /** The block it follows, two after a merge. */
  readonly previous: readonly BlockId[];
  /** Root of the state after the block, in `Chain.states`. */
  readonly state: number;
  /** Newest blocks of the shards, of a masterchain block. */
  readonly shards: readonly ShardDescr[];
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
  const parsed = new Map<ChainBlock, Boc>();
  return {
    states,
    zeroStates,
    lastSeqno: masterchain.length,
    find: (id) => byId.get(keyOf(id)),
    masterchain: (seqno) => masterchain[seqno - 1],
    along: createWays(blocks),
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
  const { info, stateUpdate } = readBlock(boc, root);
  const header = readBlockInfo(boc, info);
  if (header.seqno !== id.seqno || header.workchain !== id.workchain || header.shard !== id.shard) {
    throw new Error('The header names another block.');
  }
  const previous = previousBlocks(boc, header);
  const before = previous.map((one) => {
    const state = stateAfter(one);
    if (state === undefined) throw new Error(`The state of ${blockText(one)} is not there.`);
    return state;
  });
  const start = before.length === 1 ? before[0]! : addSplitState(states, before[0]!, before[1]!);
  const state = applyMerkleUpdate(states, boc, stateUpdate, start);
  return { ...recorded, header, previous, state, shards: listTops(states, id, state) };
}

function listTops(states: CellStore, id: BlockId, state: number): readonly ShardDescr[] {
  return id.workchain === MASTERCHAIN ? listShards(states, openMasterchainState(states, state).shardHashes) : [];
}

/** Lists of a workchain's blocks for each way down its shards that somebody asked for. */
function createWays(blocks: readonly ChainBlock[]): Chain['along'] {
  const byShard = Map.groupBy(blocks, ({ id }) => shardKey(id.workchain, id.shard));
  const shards = [...byShard.values()].map((list) => list[0]!.id);
  const ways = new Map<string, readonly ChainBlock[]>();
  return (workchain, prefix) => {
    const keys = shards
      .filter((id) => id.workchain === workchain && shardContainsPrefix(id.shard, prefix))
      .map((id) => shardKey(id.workchain, id.shard));
    const way = keys.join();
    const known = ways.get(way);
    if (known !== undefined) return known;
    const made = keys.flatMap((key) => byShard.get(key)!).toSorted((one, other) => one.id.seqno - other.id.seqno);
    ways.set(way, made);
    return made;
  };
}

function shardKey(workchain: number, shard: bigint): string {
  return `${workchain}:${shard.toString(16)}`;
}

function keyOf(id: BlockId): string {
  return `${shardKey(id.workchain, id.shard)}:${id.seqno}:${id.rootHash.toString('hex')}:${id.fileHash.toString('hex')}`;
}
