import type { DepthKind, DepthNeed } from '../liteserver/query-facts.ts';

/** Kinds of old data whose edges are measured (service/pool/README.md#depth-of-lite-servers). */
export const depthKinds: readonly DepthKind[] = ['masterchainBlock', 'masterchainState', 'shardBlock', 'shardState'];

/** Oldest position at which a lite server has the data. */
export type DepthEdge = {
  /** Masterchain seqno. */
  readonly masterchain: number;
  /** Seqno of a shard's block that the masterchain block refers to; 0 for the masterchain. */
  readonly shard: number;
};

/** Edges measured so far. */
export type Depth = { readonly [kind in DepthKind]?: DepthEdge };

/** Returns false when the lite server is known to lack the data. Data that were not probed yet count as present. */
export function reachesDepth(depth: Depth, need: DepthNeed | undefined): boolean {
  const edge = need && depth[need.kind];
  return edge === undefined || need === undefined || need.seqno >= edge[need.chain];
}

/** First step down from the newest block, which every lite server has. Steps double from there. */
const FIRST_STEP = 128;

/** Oldest masterchain block; the zero state before it is no block. */
const FIRST_SEQNO = 1;

/**
 * Finds the least seqno for which `has` is true. `has` must be true from some seqno on. The search doubles its steps from the known edge, then halves
 * them. Undefined when `has` is false even for `newest`.
 * @param known edge found last time; while it has not moved, two queries confirm it
 */
export async function findEdge(
  newest: number,
  known: number | undefined,
  has: (seqno: number) => Promise<boolean>,
): Promise<number | undefined> {
  const isKnown = known !== undefined && known <= newest;
  let present = isKnown ? known : newest;
  let missing = FIRST_SEQNO - 1;
  if (await has(present)) {
    for (let step = isKnown ? 1 : FIRST_STEP; present > FIRST_SEQNO; step *= 2) {
      const seqno = Math.max(FIRST_SEQNO, present - step);
      if (!(await has(seqno))) {
        missing = seqno;
        break;
      }
      present = seqno;
    }
  } else {
    missing = present;
    for (let step = 1; ; step *= 2) {
      if (missing >= newest) return undefined;
      present = Math.min(newest, missing + step);
      if (await has(present)) break;
      missing = present;
    }
  }
  while (present - missing > 1) {
    const seqno = Math.floor((present + missing) / 2);
    if (await has(seqno)) present = seqno;
    else missing = seqno;
  }
  return present;
}
