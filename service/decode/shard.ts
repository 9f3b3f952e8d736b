/**
 * Shard arithmetic (service/liteserver/README.md#shards). A shard is an unsigned 64-bit number: prefix bits, a 1, zeros; the 1 is its lowest set bit.
 * Every function takes and returns unsigned bigints.
 */

/** Deepest split that the chain allows. */
export const SHARD_PREFIX_BITS_MAX = 60;

/** The lowest set bit. */
function low(shard: bigint): bigint {
  return shard & -shard;
}

/** Returns the number of prefix bits of a shard: 0 for the whole workchain. */
export function shardPrefixBits(shard: bigint): number {
  return 64 - low(shard).toString(2).length;
}

/** Returns `ShardIdent`'s prefix and its length as a shard. */
export function shardFromPrefix(prefix: bigint, bits: number): bigint {
  const end = 1n << BigInt(63 - bits);
  return BigInt.asUintN(64, (prefix & ~(2n * end - 1n)) | end);
}

/** Returns the shard of which this one is a half. The whole workchain has no parent and must not be given. */
export function shardParent(shard: bigint): bigint {
  const bit = low(shard);
  return (shard ^ bit) | (bit << 1n);
}

/** Returns the halves of a shard, the half with the lower prefix first. */
export function shardChildren(shard: bigint): readonly [left: bigint, right: bigint] {
  const half = low(shard) >> 1n;
  return [shard - half, shard + half];
}

/** Reports whether a 64-bit account prefix belongs to the shard. */
export function shardContainsPrefix(shard: bigint, prefix: bigint): boolean {
  return BigInt.asUintN(64, (shard ^ prefix) & -(low(shard) << 1n)) === 0n;
}

/** Reports whether an account id (32 bytes) belongs to the shard. */
export function shardContains(shard: bigint, accountId: Buffer): boolean {
  return shardContainsPrefix(shard, accountId.readBigUInt64BE(0));
}

/** Reports whether `ancestor` covers all of `shard`; a shard is its own ancestor. */
export function shardIsAncestor(ancestor: bigint, shard: bigint): boolean {
  return low(ancestor) >= low(shard) && shardContainsPrefix(ancestor, shard);
}

/** Reports whether two shards have accounts in common. */
export function shardsIntersect(one: bigint, other: bigint): boolean {
  return shardIsAncestor(one, other) || shardIsAncestor(other, one);
}

/** Returns a shard from the signed 64-bit form of TL and the HTTP APIs. */
export function shardFromSigned(shard: bigint): bigint {
  return BigInt.asUintN(64, shard);
}

/** The signed 64-bit form. */
export function shardToSigned(shard: bigint): bigint {
  return BigInt.asIntN(64, shard);
}
