import type { Head } from './head.ts';
import { hasVote } from './head-keeper.ts';
import type { Member } from './member.ts';

/** The newest masterchain seqno that most lite servers have. */
export type Consensus = {
  readonly seqno: number;
  /** Time at which it became so, in milliseconds of the pool's clock. */
  readonly sinceMs: number;
};

/** Follows the consensus of the lite servers. It only goes up. */
export type ConsensusKeeper = {
  /** Undefined before the first head. */
  readonly consensus: () => Consensus | undefined;
  /** Evaluates the tips again; called after every report and every new head. */
  readonly consider: () => void;
};

/** Part of the lite servers in use that must have a block: 60 % (service/v2/README.md#blocks). */
const QUORUM = { part: 3, of: 5 };

export type ConsensusDependencies = {
  readonly members: readonly Pick<Member, 'health' | 'tip' | 'use'>[];
  readonly head: () => Head | undefined;
  readonly now: () => number;
};

/** Creates the keeper. A reported block that is not proved yet is above the served head and does not count. */
export function createConsensusKeeper({ members, head, now }: ConsensusDependencies): ConsensusKeeper {
  let consensus: Consensus | undefined;

  return {
    consensus: () => consensus,
    consider() {
      const served = head()?.block.seqno;
      if (served === undefined) return;
      const seqnos = members.filter(hasVote).map((member) => member.tip()?.block.seqno ?? 0);
      const seqno = Math.min(served, quorumSeqno(seqnos));
      if (seqno > (consensus?.seqno ?? 0)) consensus = { seqno, sinceMs: now() };
    },
  };
}

/** Returns the highest seqno that at least 60 % reach; 0 without lite servers. */
export function quorumSeqno(seqnos: readonly number[]): number {
  const needed = Math.max(1, Math.ceil((seqnos.length * QUORUM.part) / QUORUM.of));
  return seqnos.toSorted((a, b) => b - a)[needed - 1] ?? 0;
}
