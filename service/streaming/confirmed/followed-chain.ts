import type { ReadContext } from '#service/contract/answer.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import { shardsIntersect } from '#service/decode/shard.ts';
import type { BlockFile, LiveBlockFiles } from '#service/live/blocks/block-files.ts';
import { blockName, type SeenBlock } from './seen-block.ts';

/** Newest masterchain block that the traces have. */
export type Followed = {
  readonly seqno: number;
  /** Newest blocks of its shards. */
  readonly tops: readonly BlockId[];
  readonly keyBlockSeqno: number;
  /** Version of the rules in force. */
  readonly version: number;
};

/** Blocks of one shard between two masterchain blocks. */
const SHARD_BLOCKS_MAX = 16;

/** Returns a masterchain block as followed. @param before an earlier block, whose version holds as long as its rules do */
export async function followedOf(
  { id, shards, keyBlockSeqno }: BlockFile,
  before: Followed | undefined,
  files: Pick<LiveBlockFiles, 'readGlobalVersion'>,
  context: ReadContext,
): Promise<Followed> {
  const version =
    before?.keyBlockSeqno === keyBlockSeqno ? before.version : await files.readGlobalVersion(keyBlockSeqno, context);
  return { seqno: id.seqno, tops: shards, keyBlockSeqno, version };
}

/**
 * Returns the blocks that a masterchain block makes final, the oldest of a shard first.
 *
 * @param tops newest blocks of its shards
 * @param before newest blocks of the shards of the masterchain block before
 */
export async function finalBlocksOf(
  tops: readonly BlockId[],
  before: readonly BlockId[],
  open: (id: BlockId) => Promise<SeenBlock>,
): Promise<readonly SeenBlock[]> {
  const final = new Set(before.map(blockName));
  const blocks = new Map<string, SeenBlock>();
  for (const top of tops) {
    const line: SeenBlock[] = [];
    const next = [top];
    for (const id of next) {
      const name = blockName(id);
      if (final.has(name) || blocks.has(name) || id.seqno === 0 || line.length >= SHARD_BLOCKS_MAX) continue;
      const block = await open(id);
      line.unshift(block);
      next.push(...block.previous);
    }
    for (const block of line) blocks.set(block.name, block);
  }
  return [...blocks.values()];
}

/** Blocks that are not final yet, the oldest first. @param tops newest final blocks of the shards */
export function aheadOf(tops: readonly BlockId[], listed: readonly BlockId[]): readonly BlockId[] {
  const isPassed = ({ workchain, shard, seqno }: BlockId): boolean =>
    tops.some((top) => top.workchain === workchain && top.shard === shard && top.seqno >= seqno);
  return listed.filter((id) => !isPassed(id)).toSorted((one, other) => one.seqno - other.seqno);
}

/**
 * Takes blocks. Blocks behind a block that is not there wait for the next time.
 *
 * @param take returns false for a block that lite servers do not have
 */
export async function takeInOrder(ids: readonly BlockId[], take: (id: BlockId) => Promise<boolean>): Promise<void> {
  const absent: BlockId[] = [];
  for (const id of ids) {
    const { workchain, shard, seqno } = id;
    const isBehind = absent.some(
      (one) => one.workchain === workchain && one.seqno < seqno && shardsIntersect(one.shard, shard),
    );
    if (!isBehind && !(await take(id))) absent.push(id);
  }
}
