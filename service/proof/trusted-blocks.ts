import type { BlockId } from '../decode/block-id.ts';
import { blockText, FULL_SHARD, MASTERCHAIN, sameBlock } from '../decode/block-id.ts';
import { ProofError } from './errors.ts';

/** First state of a network. As a block it is the masterchain's seqno 0. */
export type ZeroStateId = { readonly rootHash: Buffer; readonly fileHash: Buffer };

/** Trusted blocks: the anchor, the key blocks proved from it, and recently proved masterchain blocks. */
export type TrustedBlocks = {
  /** Returns true when the block is proved already. Throws ProofError `fork` or `wrong_zerostate` when another block is at its seqno. */
  has(block: BlockId): boolean;
  addKeyBlock(block: BlockId): void;
  addBlock(block: BlockId): void;
  /** Returns the block from which a proof of this seqno starts. It is the newest key block at or below the seqno, else the oldest above. */
  startFor(seqno: number): BlockId;
  newestKeyBlock(): BlockId;
  /** Returns key blocks by seqno, without the anchor. */
  keyBlocks(): readonly BlockId[];
};

/**
 * Most key blocks: two years and more of the main network, which has some five a day. Beyond the bound the oldest are evicted. Older blocks are then
 * proved backwards from the oldest key block.
 */
const KEY_BLOCKS_MAX = 4096;

/** Most other proved blocks: an hour and more of heads, one or two a second, some 150 bytes each. */
const BLOCKS_MAX = 8192;

/** Returns the zero state as a masterchain block. */
export function zeroStateBlock({ rootHash, fileHash }: ZeroStateId): BlockId {
  return { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno: 0, rootHash, fileHash };
}

/** Creates trusted blocks with the anchor of the operator's configuration. */
export function createTrustedBlocks(anchor: BlockId, zeroState: ZeroStateId): TrustedBlocks {
  const first = zeroStateBlock(zeroState);
  /** Ascending seqnos. The anchor is among them until the bound evicts it. */
  const keyBlocks: BlockId[] = [anchor];
  const recent = new Map<number, BlockId>();

  /** Returns the index of the newest key block at or below the seqno, -1 when all are above. */
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
