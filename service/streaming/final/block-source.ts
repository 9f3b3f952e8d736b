import { createBoundedCache } from '#service/runtime/bounded-cache.ts';
import { createSemaphore } from '#service/runtime/semaphore.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { Store } from '#service/store/store.ts';
import type { ActionNetwork } from '#service/v3/action-details/action-derived.ts';
import { readStates } from '#service/v3/rendering/assemble-transaction.ts';
import type { Change } from '../changes.ts';
import { changesOfBlock, openBlock, statesOf, type OpenedBlock } from './block-changes.ts';
import { readBlock } from './block-rows.ts';
import type { OpenBounds } from './trace-plan.ts';

/** Changes of indexed blocks, one list a block. */
export type BlockSource = {
  /**
   * The changes of a block in their order; undefined for a block that is not indexed. Callers at one time share the work.
   * @throws StoreError
   */
  readonly read: (mcSeqno: number, signal: AbortSignal) => Promise<readonly Change[] | undefined>;
  /** The same for the follower, whose block all connections wait for: it does not wait for other reads. */
  readonly readNext: BlockSource['read'];
  /** The changes of a block that is in the memory. */
  readonly peek: (mcSeqno: number) => readonly Change[] | undefined;
  /** Weight of the blocks in the memory. */
  readonly bytes: () => number;
};

export type BlockSourceDependencies = {
  readonly store: Pick<Store, 'transaction'>;
  readonly network: ActionNetwork;
  readonly bounds: OpenBounds;
  /** Ends all reads. */
  readonly signal: AbortSignal;
};

/** Blocks of replays and subscriptions that are read at once: each takes a connection to Postgres. */
const READS_AT_ONCE = 2;

/** Lists of the newest blocks, and of blocks that several replays read: some 10,000 transactions. */
const CACHED_BYTES_MAX = 96 * 1024 * 1024;

/** Weights of a shown transaction and of a change, measured with the recorded blocks. Objects of a cell take several times its bytes. */
const weights = { transaction: 6_000, cellByte: 6, change: 1_000 } as const;

export function createBlockSource({ store, network, bounds, signal }: BlockSourceDependencies): BlockSource {
  const cache = createBoundedCache({ bytesMax: CACHED_BYTES_MAX });
  const reads = createSemaphore(READS_AT_ONCE);
  /** Bounded by the callers: the follower, and the replays that the hub lets in. */
  const running = new Map<number, Promise<readonly Change[] | undefined>>();

  async function make(mcSeqno: number): Promise<readonly Change[] | undefined> {
    const found = await store.transaction(
      async ({ query }) => {
        const reader: StoreReader = { read: query, signal };
        const rows = await readBlock(reader, mcSeqno, bounds);
        if (rows === undefined) return undefined;
        const block = await openBlock(rows, signal);
        return { block, states: await readStates(reader, statesOf(block)) };
      },
      { snapshot: true },
    );
    if (found === undefined) return undefined;
    const changes = await changesOfBlock(found.block, { network, states: found.states }, signal);
    if (found.block.rows.isClassified) cache.set(String(mcSeqno), changes, weightOf(found.block, changes.length));
    return changes;
  }

  const peek = (mcSeqno: number): readonly Change[] | undefined =>
    cache.get(String(mcSeqno)) as readonly Change[] | undefined;

  const readBy =
    (work: typeof make): BlockSource['read'] =>
    async (mcSeqno, caller) => {
      caller.throwIfAborted();
      const known = peek(mcSeqno);
      if (known !== undefined) return known;
      const shared = running.get(mcSeqno) ?? work(mcSeqno).finally(() => running.delete(mcSeqno));
      running.set(mcSeqno, shared);
      const changes = await shared;
      caller.throwIfAborted();
      return changes;
    };

  return {
    peek,
    bytes: cache.bytes,
    read: readBy((mcSeqno) => reads.run(signal, () => make(mcSeqno))),
    readNext: readBy(make),
  };
}

function weightOf({ opened }: OpenedBlock, changes: number): number {
  let bytes = changes * weights.change;
  for (const { row } of opened.values()) bytes += weights.transaction + row.boc.length * weights.cellByte;
  return bytes;
}
