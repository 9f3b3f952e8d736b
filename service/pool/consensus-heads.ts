import { createConsensusKeeper, type Consensus } from './consensus.ts';
import type { Head } from './head.ts';
import { createHeadWaiters } from './head-waiters.ts';
import type { Member } from './member.ts';
import { createMonotonicHeads, scopeFloors } from './monotonic-heads.ts';
import type { MonotonicHeadsOptions, SharedHeads } from './monotonic-heads.ts';
import type { PoolContext } from './reads.ts';

/** The consensus of the lite servers for callers. No caller sees an older one than before. */
export type ConsensusHeads = {
  /** Rejects like `MonotonicHeads.headFor`. */
  readonly consensusFor: (context: PoolContext) => Promise<Consensus>;
  /** Evaluates the tips again; called after every report and every new head. */
  readonly consider: () => void;
};

export type ConsensusHeadsDependencies = {
  readonly members: readonly Pick<Member, 'health' | 'tip' | 'use'>[];
  readonly head: () => Head | undefined;
  /** Absent when this pod is alone. */
  readonly shared: SharedHeads | undefined;
  readonly now: () => number;
  readonly unixMs: () => number;
};

export function createConsensusHeads(
  options: MonotonicHeadsOptions,
  { members, head, shared, now, unixMs }: ConsensusHeadsDependencies,
): ConsensusHeads {
  const keeper = createConsensusKeeper({ members, head, now });
  const waiters = createHeadWaiters(() => keeper.consensus()?.seqno ?? 0);
  const floors = createMonotonicHeads(options, {
    head: () => {
      const consensus = keeper.consensus();
      return consensus && { consensus, block: consensus };
    },
    proved: head,
    whenServed: waiters.wait,
    // The consensus of most lite servers cannot be taken from a single one.
    findAhead: () => Promise.resolve(undefined),
    shared: shared && scopeFloors(shared, 'consensus'),
    now,
    unixMs,
  });
  return {
    consensusFor: async (context) => (await floors.headFor(context)).consensus,
    consider() {
      keeper.consider();
      waiters.moved(keeper.consensus()?.seqno ?? 0);
    },
  };
}
