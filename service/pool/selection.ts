import type { Health } from './health.ts';

/** What the choice of a lite server looks at. */
export type Candidate = {
  /** Zero-based, in configuration order. */
  readonly index: number;
  readonly health: Pick<Health, 'phase' | 'cause'>;
  /** It gets no reads by order. */
  readonly cordoned: boolean;
  /** Newest masterchain seqno it reported; undefined before its first report. */
  readonly tipSeqno: number | undefined;
  readonly inFlight: number;
  readonly inFlightMax: number;
  /** It has the old block or state that is asked for, as far as is known. */
  readonly reaches: boolean;
  /** Reads in flight that have no answer for longer than is usual. */
  readonly stalled: number;
  /** What asking it costs now, in milliseconds (`costMs`). */
  readonly costMs: number;
};

export type Need = {
  /** The masterchain block that the answer depends on; undefined when any lite server will do. */
  readonly masterchainSeqno?: number | undefined;
  /** Lite servers asked already for this read. */
  readonly tried: ReadonlySet<number>;
  /** The one that last gave a good answer: kept until another one is clearly better, since its connection and caches are warm. */
  readonly lastGood: number | undefined;
  /** 0..1: draws the two that are compared. */
  readonly random: number;
};

/** Another lite server takes the place of the last good one when it costs less than this part: less is noise, and would flap. */
const CLEARLY_BETTER = 0.7;

/**
 * The lite server to ask next, or undefined when none is left. In order: usable, reaches back to what is asked, not full, has the
 * newest block that is needed (else the one least behind), not stalled; among those that are left the cheaper of two drawn by chance, or the last good one when that is not clearly
 * dearer. Two and not all: reads that come together must not all run to the same best one. Those that are out for failures come
 * last of all: when nothing else is left, trying them costs nothing but the try. Misbehaving, rejected and unknown ones are never
 * chosen.
 */
export function selectLiteServer(candidates: readonly Candidate[], need: Need): Candidate | undefined {
  let best: Candidate[] = [];
  for (const candidate of candidates) {
    if (need.tried.has(candidate.index) || !mayBeAsked(candidate)) continue;
    const order = best[0] === undefined ? -1 : compare(candidate, best[0], need);
    if (order < 0) best = [candidate];
    else if (order === 0) best.push(candidate);
  }
  const drawn = cheaperOfTwo(best, need.random);
  const kept = best.find(({ index }) => index === need.lastGood);
  if (drawn === undefined || kept === undefined) return drawn;
  return drawn.costMs < kept.costMs * CLEARLY_BETTER ? drawn : kept;
}

/** In and not cordoned, and so trusted with reads. */
export function isUsable(candidate: Pick<Candidate, 'health' | 'cordoned'>): boolean {
  return candidate.health.phase === 'in' && !candidate.cordoned;
}

/** Blocks between what is needed and what the lite server has; 0 when it has it. */
export function lagBlocks(candidate: Pick<Candidate, 'tipSeqno'>, masterchainSeqno: number | undefined): number {
  if (masterchainSeqno === undefined) return 0;
  return Math.max(0, masterchainSeqno - (candidate.tipSeqno ?? 0));
}

function mayBeAsked(candidate: Candidate): boolean {
  if (candidate.cordoned) return false;
  return isUsable(candidate) || (candidate.health.phase === 'out' && candidate.health.cause === 'failures');
}

function compare(a: Candidate, b: Candidate, need: Need): number {
  return (
    Number(isUsable(b)) - Number(isUsable(a)) ||
    Number(b.reaches) - Number(a.reaches) ||
    Number(isFull(a)) - Number(isFull(b)) ||
    lagBlocks(a, need.masterchainSeqno) - lagBlocks(b, need.masterchainSeqno) ||
    Number(a.stalled > 0) - Number(b.stalled > 0)
  );
}

/** Two different ones, each pair as likely, made of one random number. */
function cheaperOfTwo(candidates: readonly Candidate[], random: number): Candidate | undefined {
  const count = candidates.length;
  const scaled = random * count;
  const first = Math.min(count - 1, Math.floor(scaled));
  const step = 1 + Math.floor((scaled - Math.floor(scaled)) * (count - 1));
  const one = candidates[first];
  const other = candidates[(first + step) % Math.max(1, count)];
  if (one === undefined || other === undefined) return one;
  return other.costMs < one.costMs ? other : one;
}

function isFull(candidate: Candidate): boolean {
  return candidate.inFlight >= candidate.inFlightMax;
}
