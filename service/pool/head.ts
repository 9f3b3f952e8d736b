import { sameBlock } from '../decode/block-id.ts';
import type { BlockId } from '../decode/block-id.ts';

/** The network's first state (`tonNode.zeroStateIdExt`): names the network. */
export type ZeroStateId = { readonly workchain: number; readonly rootHash: Buffer; readonly fileHash: Buffer };

/** What one lite server says its newest masterchain block is. */
export type Tip = {
  readonly block: BlockId;
  /** Hash of the masterchain state after the block, 32 bytes; the lite server's word. */
  readonly stateRootHash: Buffer;
};

/** The masterchain block that reads without a seqno are pinned to. */
export type Head = {
  readonly block: BlockId;
  /** `gen_utime` of the block, unix seconds. */
  readonly utime: number;
  /** Hash of the masterchain state after the block, 32 bytes. */
  readonly stateRootHash: Buffer;
  /** Seqno of the key block whose configuration holds in the block: its own if it is one; 0 before the first. */
  readonly keyBlockSeqno: number;
  /** The block before. */
  readonly previous?: BlockId | undefined;
  /** The network's zerostate: the configured one, which every lite server in use reports. */
  readonly init: ZeroStateId;
};

/** A tip with the moment it last changed, ms of the pool's clock. */
export type TrackedTip = Tip & { readonly changedMs: number };

/**
 * A lite server whose tip stands still for this long while another one's moves is stuck and has no voice in the head.
 * Blocks come every 0.4-5 s; three missed ones are no chance.
 */
export const STUCK_MS = 15_000;

/** A jump of the head past what the strict majority has is believed without a proof up to this many blocks. */
export const LEAP_BLOCKS_MAX = 100;

export type HeadQuestion = {
  /** Tips of the healthy lite servers. */
  readonly tips: readonly TrackedTip[];
  /** Seqno of the served head; 0 before the first. */
  readonly servedSeqno: number;
  readonly nowMs: number;
  /** True when a candidate is served without proof: a leap then needs a strict majority. */
  readonly unproved: boolean;
};

/**
 * Blocks that may become the served head, newest first: above the served one, and had by at least half of the lite servers that
 * have a voice (a lite server has a block when its tip is that block or a later one). Nothing here ever goes back: a tip at or
 * below the served seqno is no candidate.
 */
export function headCandidates({ tips, servedSeqno, nowMs, unproved }: HeadQuestion): Tip[] {
  const voices = tipsWithVoice(tips, nowMs);
  const leapMax = unproved ? Math.max(servedSeqno, majoritySeqno(voices)) + LEAP_BLOCKS_MAX : Number.POSITIVE_INFINITY;
  const candidates: Tip[] = [];
  for (const tip of voices) {
    const { seqno } = tip.block;
    if (seqno <= servedSeqno || seqno > leapMax) continue;
    if (candidates.some((candidate) => sameBlock(candidate.block, tip.block))) continue;
    const having = voices.filter((voice) => voice.block.seqno > seqno || sameBlock(voice.block, tip.block)).length;
    if (having * 2 >= voices.length) candidates.push(tip);
  }
  return candidates.toSorted((a, b) => b.block.seqno - a.block.seqno);
}

/** Blocks past the served one that are proved before half of the lite servers have them; what is further has no hurry. */
export const LEAD_BLOCKS_MAX = 3;

/**
 * Blocks that are likely to become the served head soon, newest first: just above the served one, and told by one lite server that has a
 * voice at least.
 */
export function leadingTips({ tips, servedSeqno, nowMs }: Omit<HeadQuestion, 'unproved'>): Tip[] {
  const leading = tipsWithVoice(tips, nowMs).filter(
    ({ block: { seqno } }) => seqno > servedSeqno && seqno <= servedSeqno + LEAD_BLOCKS_MAX,
  );
  return leading
    .filter((tip, index) => leading.findIndex((other) => sameBlock(other.block, tip.block)) === index)
    .toSorted((a, b) => b.block.seqno - a.block.seqno);
}

function tipsWithVoice(tips: readonly TrackedTip[], nowMs: number): readonly TrackedTip[] {
  const moving = tips.filter((tip) => nowMs - tip.changedMs < STUCK_MS);
  return moving.length > 0 ? moving : tips;
}

/** The newest seqno that more than half have. */
function majoritySeqno(tips: readonly Tip[]): number {
  const seqnos = tips.map((tip) => tip.block.seqno).toSorted((a, b) => b - a);
  return seqnos[Math.floor(seqnos.length / 2)] ?? 0;
}
