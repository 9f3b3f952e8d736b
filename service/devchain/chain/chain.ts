import type { BlockId } from '#service/decode/block-id.ts';
import { MASTERCHAIN, blockText, sameBlock } from '#service/decode/block-id.ts';
import type { Boc } from '#service/decode/boc.ts';
import { parseBoc } from '#service/decode/boc.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { applyMerkleUpdate } from '#service/decode/merkle.ts';
import { ownCopy } from '#service/decode/own-bytes.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import type { BlockInfo } from '#service/decode/tlb/block-info.ts';
import { previousBlocks, readBlockInfo } from '#service/decode/tlb/block-info.ts';
import type { ShardDescr } from '#service/decode/tlb/shard-descr.ts';
import { listShards } from '#service/decode/tlb/shard-descr.ts';
import { addSplitState } from '#service/decode/tlb/shard-state.ts';
import { inMemory, type BlockFiles, type StoredBlock } from './block-files.ts';
import { recordingInvalid, refusal, serverCode } from './errors.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';
import type { SignatureSet, Recording, RecordedBlock, ZeroState } from './recording.ts';
import { openMasterchainState } from './open-as-node.ts';
import { createShardPaths, shardKey } from './shard-paths.ts';

/** Cached parsed blocks. A page of transactions and the links of one proof touch some twenty. */
const PARSED_BLOCKS_MAX = 64;

/** Masterchain blocks that stay whatever their size, because several answers look back. */
const STEPS_MIN = 64;

/** Masterchain blocks before the oldest stored block whose ids stay available. Contracts see sixteen of every hundredth block. */
const SEEN_BLOCKS = 1700;

/** Memory of a block besides its bytes: header, ids, shards, signatures, entries of lists. */
const BLOCK_OVERHEAD_BYTES = 3072;

function sizeOf({ length }: StoredBlock): number {
  return length + BLOCK_OVERHEAD_BYTES;
}

/** A block of the chain with its search keys. */
export type ChainBlock = {
  readonly id: BlockId;
  /** Bytes of the block's file. Each access may read the disk. */
  readonly bytes: Buffer;
  /** First masterchain block with this block in its history; for a masterchain block its own seqno. */
  readonly masterchainSeqno: number;
  readonly header: BlockInfo;
  /** The block it follows, two after a merge. */
  readonly previous: readonly BlockId[];
  /** Root of the state after the block, in `Chain.states`. Throws the node's refusal when the chain has forgotten it. */
  readonly state: number;
  /** Newest blocks of the shards, of a masterchain block. */
  readonly shards: readonly ShardDescr[];
};

/** A recorded chain with every state rebuilt. */
export type Chain = {
  /** Store of all available states, with shared cells stored once. `useStates` replaces it by a store with other indexes. */
  readonly states: CellStore;
  readonly zeroStates: readonly (ZeroState & { readonly state: number })[];
  readonly lastSeqno: number;
  /** First masterchain block from which all blocks are available. Of earlier blocks only key blocks are available. */
  readonly firstSeqno: number;
  /** Finds a block by its full id. Zerostates are no blocks. */
  find(id: BlockId): ChainBlock | undefined;
  /** A masterchain block, 1 to `lastSeqno`. */
  masterchain(seqno: number): ChainBlock | undefined;
  /**
   * Returns the id of a masterchain block or of the zerostate, as long as contracts can see it.
   * Throws the node's refusal when the chain has forgotten it.
   */
  masterchainId(seqno: number): BlockId;
  /** Returns the blocks of a workchain whose shards contain the prefix, oldest first. */
  along(workchain: number, prefix: bigint): readonly ChainBlock[];
  /** Seqnos of the key blocks, ascending. */
  readonly keyBlocks: readonly number[];
  signatures(seqno: number): SignatureSet | undefined;
  /** Returns the block's cells; recent blocks are cached. */
  parse(block: ChainBlock): Boc;
};

/** Growing chain. A block is added after its previous blocks. */
export type GrowingChain = Chain & {
  /**
   * Adds a block after the last ones, with the state after it.
   * @throws Error when the block does not match its id, or the masterchain would have a gap
   */
  add(block: RecordedBlock, state: number, signatures?: SignatureSet): ChainBlock;
  holdsState(block: ChainBlock): boolean;
  /** Replaces all states except the zerostates. Indexes into the earlier store become invalid. */
  useStates(states: CellStore, roots: ReadonlyMap<ChainBlock, number>): void;
  /** Cells of the states after the last `useStates`; 0 before the first. */
  readonly cellsAtLastCollection: number;
  /** Bytes of the available blocks, including the chain's overhead for each. */
  readonly blockBytes: number;
  /**
   * Forgets the oldest masterchain blocks with their shard blocks until the rest has at most so many bytes. The newest 64 and key blocks
   * stay.
   */
  forgetBlocks(bytesMax: number): void;
};

type OpenZeroState = ZeroState & { readonly state: number };

/**
 * Puts the zerostates into a store, and returns a chain without blocks.
 * @param files storage of the blocks' bytes; memory by default
 */
export function createChain(zeros: readonly ZeroState[], files: Pick<BlockFiles, 'put'> = inMemory): GrowingChain {
  let states = createCellStore();
  let zeroStates = openZeroStates(zeros, states);
  let roots = new Map<ChainBlock, number>();
  const byId = new Map<string, ChainBlock>();
  const masterchain = new Map<number, ChainBlock>();
  const masterchainIds = new Map<number, BlockId>();
  const steps = new Map<number, ChainBlock[]>();
  let [firstSeqno, lastSeqno, blockBytes, cellsAtLastCollection] = [1, 0, 0, 0];
  const stored = new Map<ChainBlock, StoredBlock>();
  const keyBlocks: number[] = [];
  const signatures = new Map<number, SignatureSet>();
  const parsed = new Map<ChainBlock, Boc>();
  const ways = createShardPaths();
  return {
    get states() {
      return states;
    },
    get zeroStates() {
      return zeroStates;
    },
    get lastSeqno() {
      return lastSeqno;
    },
    get firstSeqno() {
      return firstSeqno;
    },
    get cellsAtLastCollection() {
      return cellsAtLastCollection;
    },
    get blockBytes() {
      return blockBytes;
    },
    find: (id) => byId.get(keyOf(id)),
    masterchain: (seqno) => masterchain.get(seqno),
    masterchainId(seqno) {
      const id = seqno === 0 ? zeroStates[0]!.id : masterchainIds.get(seqno);
      if (id === undefined) throw refusal(serverCode.notReady, `block handle of masterchain block ${seqno} not in db`);
      return id;
    },
    along: ways.along,
    keyBlocks,
    signatures: (seqno) => signatures.get(seqno),
    parse(block) {
      const known = parsed.get(block);
      if (known !== undefined) parsed.delete(block);
      const boc = known ?? parseBoc(block.bytes);
      parsed.set(block, boc);
      if (parsed.size > PARSED_BLOCKS_MAX) parsed.delete(parsed.keys().next().value!);
      return boc;
    },
    add(made, state, set) {
      const id = ownId(made.id);
      const isMasterchain = id.workchain === MASTERCHAIN;
      if (isMasterchain && id.seqno !== lastSeqno + 1) throw new Error('The masterchain has a gap.');
      const boc = parseBoc(made.bytes);
      const { header, previous } = readHeader(boc, id);
      const known = (one: BlockId): BlockId =>
        (byId.get(keyOf(one)) ?? zeroStates.find((zero) => sameBlock(zero.id, one)))?.id ?? ownId(one);
      const shards = listTops(states, id, state).map((shard) => ({ ...shard, block: known(shard.block) }));
      // Key blocks stay in memory as long as the chain. On disk a single key block would retain a whole file of blocks.
      const file = (header.keyBlock ? inMemory : files).put(made.bytes);
      const block: ChainBlock = {
        id,
        masterchainSeqno: made.masterchainSeqno,
        get bytes() {
          return file.read();
        },
        header,
        previous: previous.map(known),
        get state() {
          const root = roots.get(block);
          if (root === undefined) throw refusal(serverCode.notReady, `state ${blockText(id)} not in db`);
          return root;
        },
        shards,
      };
      roots.set(block, state);
      byId.set(keyOf(id), block);
      parsed.set(block, boc);
      if (parsed.size > PARSED_BLOCKS_MAX) parsed.delete(parsed.keys().next().value!);
      ways.add(block);
      if (isMasterchain) {
        lastSeqno = id.seqno;
        masterchain.set(lastSeqno, block);
        masterchainIds.set(lastSeqno, id);
        if (header.keyBlock) keyBlocks.push(lastSeqno);
      }
      steps.set(block.masterchainSeqno, [...(steps.get(block.masterchainSeqno) ?? []), block]);
      stored.set(block, file);
      blockBytes += sizeOf(file);
      if (set !== undefined) signatures.set(id.seqno, ownSignatures(set));
      return block;
    },
    holdsState: (block) => roots.has(block),
    useStates(retained, retainedRoots) {
      states = retained;
      zeroStates = openZeroStates(zeros, retained);
      cellsAtLastCollection = states.size;
      roots = new Map(retainedRoots);
    },
    forgetBlocks(bytesMax) {
      const gone = new Set<ChainBlock>();
      for (; blockBytes > bytesMax && firstSeqno <= lastSeqno - STEPS_MIN; firstSeqno++) {
        for (const block of steps.get(firstSeqno) ?? []) {
          if (block.header.keyBlock) continue;
          gone.add(block);
          const file = stored.get(block)!;
          blockBytes -= sizeOf(file);
          file.drop();
          stored.delete(block);
          byId.delete(keyOf(block.id));
          roots.delete(block);
          parsed.delete(block);
          if (block.id.workchain !== MASTERCHAIN) continue;
          masterchain.delete(firstSeqno);
          signatures.delete(firstSeqno);
        }
        steps.delete(firstSeqno);
        if (!masterchain.has(firstSeqno - SEEN_BLOCKS)) masterchainIds.delete(firstSeqno - SEEN_BLOCKS);
      }
      if (gone.size > 0) ways.keepOnly((block) => !gone.has(block));
    },
  };
}

function openZeroStates(zeros: readonly ZeroState[], states: CellStore): readonly OpenZeroState[] {
  return zeros.map((zero) => {
    const boc = parseBoc(zero.bytes);
    return { ...zero, state: states.import(boc, boc.roots[0]!) };
  });
}

function ownId(id: BlockId): BlockId {
  return { ...id, rootHash: ownCopy(id.rootHash), fileHash: ownCopy(id.fileHash) };
}

function ownSignatures(set: SignatureSet): SignatureSet {
  const signatures = set.signatures.map(({ nodeIdShort, signature }) => ({
    nodeIdShort: ownCopy(nodeIdShort),
    signature: ownCopy(signature),
  }));
  if (set.kind === 'ordinary') return { ...set, signatures };
  return { ...set, signatures, sessionId: ownCopy(set.sessionId), candidate: ownCopy(set.candidate) };
}

/**
 * Rebuilds a recorded chain. Checks the id and the previous blocks of every block, and applies its update to the state before. After a
 * merge that state is both halves under `split_state`.
 * @throws DevchainError `recording_invalid`
 */
export async function buildChain(tape: Recording, slices: TimeSlice): Promise<Chain> {
  const chain = createChain([tape.masterchainZeroState, tape.basechainZeroState]);
  for (const recorded of tape.blocks) {
    const { id } = recorded;
    try {
      chain.add(
        recorded,
        stateAfter(chain, recorded),
        id.workchain === MASTERCHAIN ? tape.signatures.get(id.seqno) : undefined,
      );
    } catch (error) {
      throw recordingInvalid(tape.path, `Block ${blockText(id)} does not follow from the recording.`, error);
    }
    await slices.pause();
  }
  return chain;
}

/** Applies a block's update to the state before it: the root of the state after it. Throws when the block does not follow. */
export function stateAfter(chain: Chain, { id, bytes }: RecordedBlock): number {
  const boc = parseBoc(bytes);
  const { previous, stateUpdate } = readHeader(boc, id);
  const { states } = chain;
  const before = previous.map((one) => {
    const state = stateOf(chain, one);
    if (state === undefined) throw new Error(`The state of ${blockText(one)} is not there.`);
    return state;
  });
  const start = before.length === 1 ? before[0]! : addSplitState(states, before[0]!, before[1]!);
  return applyMerkleUpdate(states, boc, stateUpdate, start);
}

/** The state after a block or of a zerostate. */
export function stateOf(chain: Chain, id: BlockId): number | undefined {
  if (id.seqno > 0) return chain.find(id)?.state;
  return chain.zeroStates.find((zero) => zero.id.workchain === id.workchain)?.state;
}

function readHeader(
  boc: Boc,
  id: BlockId,
): { readonly header: BlockInfo; readonly previous: readonly BlockId[]; readonly stateUpdate: number } {
  const root = boc.roots[0]!;
  if (!boc.hashEquals(root, id.rootHash)) throw new Error('The root hash differs.');
  const { info, stateUpdate } = readBlock(boc, root);
  const header = readBlockInfo(boc, info);
  if (header.seqno !== id.seqno || header.workchain !== id.workchain || header.shard !== id.shard) {
    throw new Error('The header names another block.');
  }
  return { header, previous: previousBlocks(boc, header), stateUpdate };
}

function listTops(states: CellStore, id: BlockId, state: number): readonly ShardDescr[] {
  return id.workchain === MASTERCHAIN ? listShards(states, openMasterchainState(states, state).shardHashes) : [];
}

function keyOf(id: BlockId): string {
  return `${shardKey(id.workchain, id.shard)}:${id.seqno}:${id.rootHash.toString('hex')}:${id.fileHash.toString('hex')}`;
}
