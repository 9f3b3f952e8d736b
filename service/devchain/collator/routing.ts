import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { shardContainsPrefix } from '#service/decode/shard.ts';
import type { ShardIdent } from '#service/decode/tlb/shard-ident.ts';

/** Place of an account: its workchain and the first 64 bits of its id, unsigned. */
export type Place = { readonly workchain: number; readonly prefix: bigint };

/** All bits of a place: 32 of the workchain, 64 of the prefix. */
export const PLACE_BITS = 96;

/** True when a place belongs to the shard. */
export function containsPlace({ workchain, shard }: ShardIdent, place: Place): boolean {
  return workchain === place.workchain && shardContainsPrefix(shard, place.prefix);
}

/** The place whose first `bits` bits are the destination's and the others the source's. */
export function between(source: Place, destination: Place, bits: number): Place {
  if (bits <= 0) return source;
  if (bits >= PLACE_BITS) return destination;
  if (bits < 32) {
    const mask = (0xffff_ffff << (32 - bits)) | 0;
    return { workchain: (destination.workchain & mask) | (source.workchain & ~mask), prefix: source.prefix };
  }
  const mask = (1n << BigInt(PLACE_BITS - bits)) - 1n;
  return {
    workchain: destination.workchain,
    prefix: (destination.prefix & ~mask) | (source.prefix & mask),
  };
}

/** Number of the destination's bits at a message's current position, and at its next stop. */
export type Route = { readonly currentBits: number; readonly nextBits: number };

/**
 * Returns a message's next step on the hypercube of shards (`perform_hypercube_routing`). The step changes the first four bits that differ
 * from the destination and lead out of the shard. A route from or to the masterchain is direct.
 */
export function nextStep(from: Place, destination: Place, shard: ShardIdent): Route {
  if (containsPlace(shard, destination)) return { currentBits: PLACE_BITS, nextBits: PLACE_BITS };
  if (from.workchain === MASTERCHAIN || destination.workchain === MASTERCHAIN) {
    return { currentBits: 0, nextBits: PLACE_BITS };
  }
  if (from.workchain !== destination.workchain) return { currentBits: 0, nextBits: 32 };
  const differing = from.prefix ^ destination.prefix;
  const same = 64 - differing.toString(2).length;
  let bits = same & ~3;
  let next: Place;
  do {
    bits += 4;
    next = between(from, destination, 32 + bits);
  } while (containsPlace(shard, next));
  return { currentBits: 28 + bits, nextBits: 32 + bits };
}
