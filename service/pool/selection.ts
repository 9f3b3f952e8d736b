import type { Permission } from './access.ts';
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
  /** It may be given one more. */
  readonly hasRoom: boolean;
  /** The caller may have it asked, and the part of the chain that is asked about is one that it has. */
  readonly permission: Permission;
  /** It has the old block or state that is asked for, as far as is known. */
  readonly reaches: boolean;
  /** Reads in flight that have no answer for longer than is usual. */
  readonly stalled: number;
  /** What asking it costs now, in milliseconds (`costMs`). */
  readonly costMs: number;
  /** Its share of the reads, relative to the others'. */
  readonly weight: number;
};

export type Need = {
  /** The masterchain block that the answer depends on; undefined when any lite server will do. */
  readonly masterchainSeqno?: number | undefined;
  /** Lite servers asked already for this read. */
  readonly tried: ReadonlySet<number>;
  /** The one that last gave a good answer: kept until another one is clearly better, since its connection and caches are warm. */
  readonly lastGood: number | undefined;
  /** 0..1: draws the two that are compared. */
  readonly random: () => number;
};

/** Another lite server takes the place of the one drawn, or of the last good one, when it costs less than this part: less is noise, and would flap. */
const CLEARLY_BETTER = 0.7;

/** Blocks behind that waiting for makes good within a second or so; one further behind comes after those that are full. */
const NEAR_BLOCKS = 3;

/**
 * The lite server to ask next, or undefined when none is left; it may have no room, and then no other that is as good has. In order:
 * usable, no spare, reaches back to what is asked, not far behind, with room, has the newest block that is needed (else the one least
 * behind), not stalled; among those that are left one drawn by weight, or a second one when that is clearly cheaper, or the last good one
 * when neither is clearly cheaper than that. Two and not all: reads that come together must not all run to the same best one. Those that
 * are out for failures come last of all: when nothing else is left, trying them costs nothing but the try. Misbehaving, rejected and
 * unknown ones are never chosen, nor those that the caller may not use.
 */
export function selectLiteServer(candidates: readonly Candidate[], need: Need): Candidate | undefined {
  let best: Candidate[] = [];
  for (const candidate of candidates) {
    if (need.tried.has(candidate.index) || !mayBeAsked(candidate)) continue;
    const order = best[0] === undefined ? -1 : compare(candidate, best[0], need);
    if (order < 0) best = [candidate];
    else if (order === 0) best.push(candidate);
  }
  const drawn = betterOfTwo(best, need.random);
  const kept = best.find(({ index }) => index === need.lastGood);
  if (drawn === undefined || kept === undefined) return drawn;
  return isClearlyCheaper(drawn, kept) ? drawn : kept;
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
  if (candidate.cordoned || candidate.permission === 'no') return false;
  return isUsable(candidate) || (candidate.health.phase === 'out' && candidate.health.cause === 'failures');
}

function compare(a: Candidate, b: Candidate, need: Need): number {
  const lagA = lagBlocks(a, need.masterchainSeqno);
  const lagB = lagBlocks(b, need.masterchainSeqno);
  return (
    Number(isUsable(b)) - Number(isUsable(a)) ||
    Number(a.permission === 'spare') - Number(b.permission === 'spare') ||
    Number(b.reaches) - Number(a.reaches) ||
    Number(lagA > NEAR_BLOCKS) - Number(lagB > NEAR_BLOCKS) ||
    Number(b.hasRoom) - Number(a.hasRoom) ||
    lagA - lagB ||
    Number(a.stalled > 0) - Number(b.stalled > 0)
  );
}

function isClearlyCheaper(one: Candidate, other: Candidate): boolean {
  return one.costMs < other.costMs * CLEARLY_BETTER;
}

function betterOfTwo(candidates: readonly Candidate[], random: () => number): Candidate | undefined {
  const first = drawByWeight(candidates, random);
  if (first === undefined || candidates.length === 1) return first;
  const second = drawByWeight(
    candidates.filter((candidate) => candidate !== first),
    random,
  );
  return second !== undefined && isClearlyCheaper(second, first) ? second : first;
}

function drawByWeight(candidates: readonly Candidate[], random: () => number): Candidate | undefined {
  if (candidates.length <= 1) return candidates[0];
  let left = random() * candidates.reduce((sum, { weight }) => sum + weight, 0);
  return candidates.find(({ weight }) => (left -= weight) < 0) ?? candidates.at(-1);
}
