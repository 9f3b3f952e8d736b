import type { Permission } from './read-access.ts';
import type { Health } from './health.ts';

/** Properties for the choice of a lite server. */
export type Candidate = {
  /** Zero-based, in configuration order. */
  readonly index: number;
  readonly health: Pick<Health, 'phase' | 'cause'>;
  /** True when the configuration gives it no reads. */
  readonly cordoned: boolean;
  /** Newest masterchain seqno it reported; undefined before its first report. */
  readonly tipSeqno: number | undefined;
  /** True when it has room for one more. */
  readonly hasRoom: boolean;
  /** Permission of the caller. It is `no` too if the server lacks that part of the chain. */
  readonly permission: Permission;
  /** True when it has the needed old block or state, as far as measured. */
  readonly reaches: boolean;
  /** Reads in flight that are unusually slow. */
  readonly stalled: number;
  /** Current cost of a query in milliseconds (`costMs`). */
  readonly costMs: number;
  /** Share of the reads, relative to others. */
  readonly weight: number;
};

export type Need = {
  /** Masterchain block that the answer depends on; undefined when any lite server will do. */
  readonly masterchainSeqno?: number | undefined;
  /** Lite servers that this read has tried. */
  readonly tried: ReadonlySet<number>;
  /** Server that last gave a good answer. It is reused until another one is clearly better, because its connection and caches are warm. */
  readonly lastGood: number | undefined;
  /** Random number in 0..1, which draws the two servers to compare. */
  readonly random: () => number;
};

/**
 * Cost ratio below which another lite server replaces the drawn one or the last good one. A smaller difference is noise, and would cause flapping.
 */
const CLEARLY_BETTER = 0.7;

/** Blocks of lag that a wait of about a second bridges. Servers further behind come after full ones. */
const NEAR_BLOCKS = 3;

/**
 * Returns the lite server to ask next, or undefined when none is left. If it has no room, no equally good server has room.
 *
 * Criteria in order, for the best group.
 * - Usable, no spare, reaches back far enough.
 * - Not far behind, with room.
 * - Has the newest needed block, else is least behind.
 * - Not stalled.
 *
 * Among the best, one is drawn by weight. A second drawn server replaces it when clearly cheaper. The last good one is chosen unless the drawn one is
 * clearly cheaper.
 *
 * Only two are compared, because simultaneous reads must not all use the same best server. Servers out for failures come last: when no other is left,
 * a try is free. Misbehaving, rejected, unknown and forbidden servers are never chosen.
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
  const last = best.find(({ index }) => index === need.lastGood);
  if (drawn === undefined || last === undefined) return drawn;
  return isClearlyCheaper(drawn, last) ? drawn : last;
}

/** Reports whether a server is in and not cordoned, and so gets reads. */
export function isUsable(candidate: Pick<Candidate, 'health' | 'cordoned'>): boolean {
  return candidate.health.phase === 'in' && !candidate.cordoned;
}

/** Returns the blocks between the needed one and the lite server's tip; 0 when it has the block. */
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
