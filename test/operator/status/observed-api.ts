import type { Observed } from '#operator/status/observed.ts';

/** A TonApi whose objects are as wanted, with no pod. */
export function observed(changes: Partial<Observed> = {}): Observed {
  return {
    live: [],
    pods: [],
    metadataPods: [],
    says: new Map(),
    problems: [],
    refusals: [],
    unserved: [],
    hotHash: 'a',
    readyMin: 1,
    migration: { state: 'current' },
    indexer: undefined,
    keys: 0,
    rollout: { hash: 'h', phase: 'settled' },
    fights: [],
    ...changes,
  };
}
