import type { Health } from './health.ts';

/** What the choice of a lite server looks at. */
export type Candidate = {
  /** Zero-based, in configuration order. */
  readonly index: number;
  readonly health: Pick<Health, 'phase' | 'cause'>;
  /** Newest masterchain seqno it reported; undefined before its first report. */
  readonly tipSeqno: number | undefined;
  readonly inFlight: number;
  readonly inFlightMax: number;
};

export type Need = {
  /** The masterchain block that the answer depends on; undefined when any lite server will do. */
  readonly masterchainSeqno?: number | undefined;
  /** Lite servers asked already for this read. */
  readonly tried: ReadonlySet<number>;
  /** The one that last gave a good answer: kept among equals, since its connection and caches are warm. */
  readonly lastGood: number | undefined;
  /** 0..1: decides among equals that are left. */
  readonly random: number;
};

/**
 * The lite server to ask next, or undefined when none is left. In order: usable, not full, has the block (else the one least
 * behind), fewest in flight, the last good one, chance. Those that are out for failures come last of all: when nothing else is
 * left, trying them costs nothing but the try. Misbehaving, rejected and unknown ones are never chosen.
 */
export function selectLiteServer(candidates: readonly Candidate[], need: Need): Candidate | undefined {
  let best: Candidate[] = [];
  for (const candidate of candidates) {
    if (need.tried.has(candidate.index) || !mayBeAsked(candidate)) continue;
    const order = best[0] === undefined ? -1 : compare(candidate, best[0], need);
    if (order < 0) best = [candidate];
    else if (order === 0) best.push(candidate);
  }
  return best[Math.min(best.length - 1, Math.floor(need.random * best.length))];
}

/** In, and so trusted with reads. */
export function isUsable(candidate: Pick<Candidate, 'health'>): boolean {
  return candidate.health.phase === 'in';
}

/** Blocks between what is needed and what the lite server has; 0 when it has it. */
export function lagBlocks(candidate: Pick<Candidate, 'tipSeqno'>, masterchainSeqno: number | undefined): number {
  if (masterchainSeqno === undefined) return 0;
  return Math.max(0, masterchainSeqno - (candidate.tipSeqno ?? 0));
}

function mayBeAsked(candidate: Candidate): boolean {
  return isUsable(candidate) || (candidate.health.phase === 'out' && candidate.health.cause === 'failures');
}

function compare(a: Candidate, b: Candidate, need: Need): number {
  return (
    Number(isUsable(b)) - Number(isUsable(a)) ||
    Number(isFull(a)) - Number(isFull(b)) ||
    lagBlocks(a, need.masterchainSeqno) - lagBlocks(b, need.masterchainSeqno) ||
    a.inFlight - b.inFlight ||
    Number(b.index === need.lastGood) - Number(a.index === need.lastGood)
  );
}

function isFull(candidate: Candidate): boolean {
  return candidate.inFlight >= candidate.inFlightMax;
}
