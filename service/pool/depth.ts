import { MASTERCHAIN } from '../decode/block-id.ts';
import { methodClassOf } from './method-class.ts';

/**
 * Kinds of old data. Blocks and states are dropped at different ages, and shards separately from the masterchain
 * (service/pool/README.md#depth-of-lite-servers).
 */
export type DepthKind = 'masterchainBlock' | 'masterchainState' | 'shardBlock' | 'shardState';

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

/** Old data that a read needs from a lite server. */
export type DepthNeed = { readonly kind: DepthKind; readonly chain: keyof DepthEdge; readonly seqno: number };

/** Bit of lookupBlock's mode: by seqno (service/liteserver/README.md#mode-bits). */
const BY_SEQNO = 0x1;

/** Returns the data that the arguments of a query need; undefined when they name no block. */
export function depthNeedOf(functionName: string, args: unknown): DepthNeed | undefined {
  const { id, account, mode } = args as { id?: unknown; account?: { workchain?: number }; mode?: number };
  const { workchain, seqno } = (id ?? {}) as { workchain?: unknown; seqno?: unknown };
  if (typeof workchain !== 'number' || typeof seqno !== 'number') return undefined;
  const isLookup = functionName.startsWith('lookupBlock');
  if (isLookup && ((mode ?? 0) & BY_SEQNO) === 0) return undefined;
  const isState = !isLookup && methodClassOf(functionName) === 'state';
  const chain = workchain === MASTERCHAIN ? 'masterchain' : 'shard';
  // An account of a shard needs the shard's state, even if the named block is of the masterchain.
  const isOfShard = chain === 'shard' || (account?.workchain ?? MASTERCHAIN) !== MASTERCHAIN;
  if (isOfShard) return { kind: isState ? 'shardState' : 'shardBlock', chain, seqno };
  return { kind: isState ? 'masterchainState' : 'masterchainBlock', chain, seqno };
}

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
