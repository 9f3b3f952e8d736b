import { sameBlock } from '../decode/block-id.ts';
import type { BlockId } from '../decode/block-id.ts';

/** Zero state of the network (`tonNode.zeroStateIdExt`), which identifies the network. */
export type ZeroStateId = { readonly workchain: number; readonly rootHash: Buffer; readonly fileHash: Buffer };

/** Newest masterchain block that a lite server reports. */
export type Tip = {
  readonly block: BlockId;
  /** Hash of the masterchain state after the block, 32 bytes, as reported and not proved. */
  readonly stateRootHash: Buffer;
};

/** Masterchain block to which reads without a seqno are pinned. */
export type Head = {
  readonly block: BlockId;
  /** `gen_utime` of the block, unix seconds. */
  readonly utime: number;
  /** Logical time at which the block ends. All blocks that it refers to end before. */
  readonly endLt: bigint;
  /** Hash of the masterchain state after the block, 32 bytes. */
  readonly stateRootHash: Buffer;
  /** Seqno of the key block whose configuration applies in the block. A key block has its own seqno; 0 before the first key block. */
  readonly keyBlockSeqno: number;
  /** Previous block. */
  readonly previous?: BlockId | undefined;
  /** Zero state of the network: the configured one, which every lite server in use reports. */
  readonly init: ZeroStateId;
};

/** Tip with the time of its last change, in milliseconds of the pool's clock. */
export type TrackedTip = Tip & { readonly changedMs: number };

/**
 * Milliseconds after which an unchanged tip counts as stuck while another one moves. A stuck lite server does not count for the head. Blocks come
 * every 0.4-5 s, so three missed blocks are no accident.
 */
export const STUCK_MS = 15_000;

/** Most blocks that an unproved head may jump beyond the tip of the strict majority. */
export const LEAP_BLOCKS_MAX = 100;

export type HeadQuestion = {
  /** Tips of the healthy lite servers. */
  readonly tips: readonly TrackedTip[];
  /** Seqno of the served head; 0 before the first. */
  readonly servedSeqno: number;
  readonly nowMs: number;
  /** True when a candidate is served without proof. A leap then needs a strict majority. */
  readonly unproved: boolean;
};

/**
 * Returns blocks that may become the served head, newest first. They are above the served block, and at least half of the counting lite servers have
 * them. A lite server has a block when its tip is that block or a later one. The head never goes back: a tip at or below the served seqno is no
 * candidate.
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

/** Most blocks above the served block that are proved before half of the lite servers have them. Later blocks are not urgent. */
export const LEAD_BLOCKS_MAX = 3;

/**
 * Returns blocks that are likely to become the served head soon, newest first. They are just above the served block, and at least one counting lite
 * server reports them.
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

/** Returns the newest seqno that more than half have. */
function majoritySeqno(tips: readonly Tip[]): number {
  const seqnos = tips.map((tip) => tip.block.seqno).toSorted((a, b) => b - a);
  return seqnos[Math.floor(seqnos.length / 2)] ?? 0;
}
