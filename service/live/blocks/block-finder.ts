import type { BlockId } from '#service/decode/block-id.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import {
  getBlockHeader,
  getShardBlockProof,
  lookupBlock,
  lookupBlockWithProof,
} from '#service/liteserver/functions.ts';
import { LiteServerError } from '#service/liteserver/errors.ts';
import { createBoundedCache } from '#service/runtime/bounded-cache.ts';
import type { Pool } from '#service/pool/pool.ts';
import { fromMemory } from '#service/pool/read-event.ts';
import type { PoolContext } from '#service/pool/reads.ts';
import type { ProvedHeader } from '#service/proof/header-proof.ts';
import { checkBlockHeader, readPreviousBlocks } from '#service/proof/header-proof.ts';
import type { BlockSearch } from '#service/proof/lookup-proof.ts';
import { checkLookup, checkLookupWithProof } from '#service/proof/lookup-proof.ts';
import { proving } from '#service/proof/proof-cells.ts';
import { checkShardBlockProof } from '#service/proof/shard-links.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { LiveBlockHeader, LiveBlocks, ShardPlace } from './blocks.ts';

export type BlockFinder = Pick<LiveBlocks, 'findBlock' | 'readHeader'>;

/** Cache of found blocks: some 4,000. A block found by seqno, lt or time never changes. */
const FOUND_BYTES_MAX = 4 * 2 ** 20;

/** Weight of a cached header with its two previous ids and its key. */
const FOUND_BYTES = 1_024;

/** Modes of lookupBlock (service/liteserver/README.md#mode-bits). */
const MODES = { seqno: 1, lt: 2, utime: 4 } as const;

/** Finds blocks, each proved to be in the history of the served head. */
export function createBlockFinder({ pool }: { pool: Pool }): BlockFinder {
  const headers = createBoundedCache({ bytesMax: FOUND_BYTES_MAX });

  /** Asks against the served head: it is proved already, so that its history needs no further question. */
  async function lookUp(
    place: ShardPlace,
    search: BlockSearch,
    context: ReadContext,
  ): Promise<LiveAnswer<LiveBlockHeader>> {
    const key = `${place.workchain} ${place.shard} ${search.by} ${valueOf(search)}`;
    const cached = headers.get(key) as LiveBlockHeader | undefined;
    if (cached !== undefined) {
      context.observe?.(fromMemory);
      return { value: cached, liteServers: [], cached: true };
    }
    const { block: masterchainBlock } = await pool.headFor(context);
    const answer = await pool.query(lookupBlockWithProof, lookupArgs(place, search, masterchainBlock), context, {
      shareAs: 'block',
      check: (result) => viewHeader(checkLookupWithProof({ ...place, search, masterchainBlock }, result)),
    });
    headers.set(key, answer.value, FOUND_BYTES);
    return answer;
  }

  /** Block after the served head. Its seqno identifies it, and a separate proof shows that it belongs to the network. */
  async function lookUpBeyond(
    place: ShardPlace,
    seqno: number,
    context: ReadContext,
  ): Promise<LiveAnswer<LiveBlockHeader>> {
    const search = { by: 'seqno', seqno } as const;
    const id = { workchain: place.workchain, shard: place.shard, seqno };
    const found = await pool.query(lookupBlock, { mode: MODES.seqno, id }, context, {
      shareAs: 'block beyond the head',
      check: async (answer, attempt) => {
        const header = checkLookup({ ...place, search }, answer);
        await acceptBlock(pool, header.id, attempt);
        return viewHeader(header);
      },
    });
    if (place.workchain === MASTERCHAIN) pool.saw(seqno, context);
    return found;
  }

  /** Lite servers find no value below block 1, because only the zerostate is before it. */
  async function lookUpFirst(
    place: ShardPlace,
    search: BlockSearch,
    context: ReadContext,
  ): Promise<LiveAnswer<LiveBlockHeader> | undefined> {
    try {
      const first = await lookUp(place, { by: 'seqno', seqno: 1 }, context);
      return reaches(first.value, search) ? first : undefined;
    } catch (error) {
      if (error instanceof LiteServerError) return undefined;
      throw error;
    }
  }

  return {
    async findBlock(place, search, context) {
      try {
        return await lookUp(place, search, context);
      } catch (error) {
        if (!(error instanceof LiteServerError)) throw error;
        if (error.code === 'lagging' && search.by === 'seqno') return lookUpBeyond(place, search.seqno, context);
        const isBelow = error.code === 'pruned' && search.by !== 'seqno';
        const first = isBelow ? await lookUpFirst(place, search, context) : undefined;
        if (first === undefined) throw error;
        return first;
      }
    },

    async readHeader(block, context) {
      const header = await pool.query(getBlockHeader, { id: block, mode: 0 }, context, {
        shareAs: 'block header',
        immutable: true,
        check: async (answer, attempt) => {
          const proved = checkBlockHeader({ block }, answer);
          await acceptBlock(pool, block, attempt);
          return viewHeader(proved);
        },
      });
      if (block.workchain === MASTERCHAIN) pool.saw(block.seqno, context);
      return header;
    },
  };
}

/** Resolves when a block of any shard is proved to belong to the network: a masterchain block, or a block in its history. */
async function acceptBlock(pool: Pool, block: BlockId, context: PoolContext): Promise<void> {
  if (block.workchain === MASTERCHAIN) return pool.accept(block, context);
  await pool.query(getShardBlockProof, { id: block }, context, {
    shareAs: 'shard block',
    immutable: true,
    check: (answer, attempt) => pool.accept(checkShardBlockProof({ block }, answer), attempt),
  });
}

function lookupArgs(place: ShardPlace, search: BlockSearch, mcBlockId: BlockId) {
  const id = { workchain: place.workchain, shard: place.shard, seqno: search.by === 'seqno' ? search.seqno : 0 };
  const value = search.by === 'lt' ? { lt: search.lt } : search.by === 'utime' ? { utime: search.utime } : {};
  return { mode: MODES[search.by], id, mcBlockId, ...value };
}

function valueOf(search: BlockSearch): bigint | number {
  return search.by === 'seqno' ? search.seqno : search.by === 'lt' ? search.lt : search.utime;
}

function reaches({ info }: LiveBlockHeader, search: BlockSearch): boolean {
  const last = search.by === 'seqno' ? info.seqno : search.by === 'lt' ? info.endLt : info.utime;
  return last >= valueOf(search);
}

function viewHeader(header: ProvedHeader): LiveBlockHeader {
  return proving('blockHeader', () => ({
    id: header.id,
    globalId: readBlock(header.table, header.cell).globalId,
    info: header.info,
    previous: readPreviousBlocks('blockHeader', header),
  }));
}
