import type { BlockId } from '../decode/block-id.ts';
import { blockText, FULL_SHARD, MASTERCHAIN, sameBlock } from '../decode/block-id.ts';
import { ProofError } from './errors.ts';

/** A network's first state: as a block it is the masterchain's seqno 0. */
export type ZeroStateId = { readonly rootHash: Buffer; readonly fileHash: Buffer };

/** What is trusted: the anchor and the key blocks proved from it, and masterchain blocks proved of late. */
export type TrustedBlocks = {
  /** True when the block is proved already. Throws ProofError `fork` or `wrong_zerostate` when another one stands at its seqno. */
  has(block: BlockId): boolean;
  addKeyBlock(block: BlockId): void;
  addBlock(block: BlockId): void;
  /** Where a proof of a block at this seqno starts: the newest key block at or below it, else the oldest one above. */
  startFor(seqno: number): BlockId;
  newestKeyBlock(): BlockId;
  /** By seqno, without the anchor. */
  keyBlocks(): readonly BlockId[];
};

/**
 * Key blocks kept: two years and more of the main network, which has some five a day. Beyond them the oldest go:
 * blocks below are then proved backwards from the oldest kept one.
 */
const KEY_BLOCKS_MAX = 4096;

/** Other proved blocks kept: an hour and more of heads, one or two a second, some 150 bytes each. */
const BLOCKS_MAX = 8192;

/** The zerostate as the masterchain block that it stands for. */
export function zeroStateBlock({ rootHash, fileHash }: ZeroStateId): BlockId {
  return { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno: 0, rootHash, fileHash };
}

/** Starts with an anchor that the operator's configuration names. */
export function createTrustedBlocks(anchor: BlockId, zeroState: ZeroStateId): TrustedBlocks {
  const first = zeroStateBlock(zeroState);
  /** Ascending seqnos, the anchor among them until the bound drops it. */
  const keyBlocks: BlockId[] = [anchor];
  const recent = new Map<number, BlockId>();

  /** Index of the newest key block at or below the seqno, -1 when all are above. */
  function indexBelow(seqno: number): number {
    let low = 0;
    let high = keyBlocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (keyBlocks[middle]!.seqno <= seqno) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  function trustedAt(seqno: number): BlockId | undefined {
    if (seqno === 0) return first;
    if (seqno === anchor.seqno) return anchor;
    const below = keyBlocks[indexBelow(seqno)];
    return below?.seqno === seqno ? below : recent.get(seqno);
  }

  function has(block: BlockId): boolean {
    if (block.workchain !== MASTERCHAIN || block.shard !== FULL_SHARD) {
      throw new ProofError('wrong_id', { subject: 'block', expected: 'a masterchain block', found: blockText(block) });
    }
    const trusted = trustedAt(block.seqno);
    if (trusted === undefined) return false;
    if (sameBlock(trusted, block)) return true;
    throw new ProofError(block.seqno === 0 ? 'wrong_zerostate' : 'fork', {
      subject: blockText(block),
      expected: trusted.rootHash.toString('hex'),
      found: block.rootHash.toString('hex'),
    });
  }

  return {
    has,
    addKeyBlock(block) {
      if (has(block) && keyBlocks[indexBelow(block.seqno)]?.seqno === block.seqno) return;
      keyBlocks.splice(indexBelow(block.seqno) + 1, 0, block);
      if (keyBlocks.length > KEY_BLOCKS_MAX) keyBlocks.shift();
    },
    addBlock(block) {
      if (has(block)) return;
      recent.set(block.seqno, block);
      if (recent.size > BLOCKS_MAX) recent.delete(recent.keys().next().value!);
    },
    startFor(seqno) {
      return keyBlocks[Math.max(0, indexBelow(seqno))]!;
    },
    newestKeyBlock: () => keyBlocks.at(-1)!,
    keyBlocks: () => keyBlocks.filter(({ seqno }) => seqno > anchor.seqno),
  };
}
