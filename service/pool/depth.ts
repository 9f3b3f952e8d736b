import { MASTERCHAIN } from '../decode/block-id.ts';
import { methodClassOf } from './method-class.ts';

/**
 * What a lite server may have from some block on: blocks and states are dropped at different ages, and those of shards apart from
 * those of the masterchain (lite server sheet 7.3).
 */
export type DepthKind = 'masterchainBlock' | 'masterchainState' | 'shardBlock' | 'shardState';

export const depthKinds: readonly DepthKind[] = ['masterchainBlock', 'masterchainState', 'shardBlock', 'shardState'];

/** The oldest place at which a lite server has what is asked. */
export type DepthEdge = {
  /** Masterchain seqno. */
  readonly masterchain: number;
  /** Seqno of a shard's block that the masterchain block refers to; 0 where only the masterchain was asked about. */
  readonly shard: number;
};

/** Edges known so far. */
export type Depth = { readonly [kind in DepthKind]?: DepthEdge };

/** What a read needs a lite server to still have. */
export type DepthNeed = { readonly kind: DepthKind; readonly chain: keyof DepthEdge; readonly seqno: number };

/** Bit of lookupBlock's mode: by seqno (lite server sheet 5.1). */
const BY_SEQNO = 0x1;

/** What the arguments of a query ask for; undefined when they name no block. */
export function depthNeedOf(functionName: string, args: unknown): DepthNeed | undefined {
  const { id, account, mode } = args as { id?: unknown; account?: { workchain?: number }; mode?: number };
  const { workchain, seqno } = (id ?? {}) as { workchain?: unknown; seqno?: unknown };
  if (typeof workchain !== 'number' || typeof seqno !== 'number') return undefined;
  const isLookup = functionName.startsWith('lookupBlock');
  if (isLookup && ((mode ?? 0) & BY_SEQNO) === 0) return undefined;
  const isState = !isLookup && methodClassOf(functionName) === 'state';
  const chain = workchain === MASTERCHAIN ? 'masterchain' : 'shard';
  // An account of a shard needs the shard's state, though the block that is named is of the masterchain.
  const isOfShard = chain === 'shard' || (account?.workchain ?? MASTERCHAIN) !== MASTERCHAIN;
  if (isOfShard) return { kind: isState ? 'shardState' : 'shardBlock', chain, seqno };
  return { kind: isState ? 'masterchainState' : 'masterchainBlock', chain, seqno };
}

/** False when the lite server is known not to have it; what was not probed yet it may have. */
export function reachesDepth(depth: Depth, need: DepthNeed | undefined): boolean {
  const edge = need && depth[need.kind];
  return edge === undefined || need === undefined || need.seqno >= edge[need.chain];
}

/** First step down from the newest block: what every lite server has. Doubles from there. */
const FIRST_STEP = 128;

/** The oldest masterchain block there is; the zerostate before it is no block. */
const FIRST_SEQNO = 1;

/**
 * The least seqno for which `has` holds, taken that it holds from some seqno on: steps that double away from what is known, then
 * halves. Undefined when it does not hold even for `newest`.
 * @param known the edge found last time: while it has not moved, two questions show that
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
