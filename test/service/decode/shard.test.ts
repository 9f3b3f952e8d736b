import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FULL_SHARD } from '#service/decode/block-id.ts';
import {
  shardChildren,
  shardContains,
  shardContainsPrefix,
  shardFromPrefix,
  shardFromSigned,
  shardIsAncestor,
  shardParent,
  shardPrefixBits,
  shardsIntersect,
  shardToSigned,
} from '#service/decode/shard.ts';

const prefix = fc.bigInt(0n, (1n << 64n) - 1n);
const bits = fc.nat(60);
const shard = fc.tuple(prefix, bits).map(([value, length]) => shardFromPrefix(value, length));

/** Returns a shard as the text of its prefix bits: slow and plain. */
function text(value: bigint): string {
  const all = value.toString(2).padStart(64, '0');
  return all.slice(0, all.lastIndexOf('1'));
}

describe('shards', () => {
  it('a shard is a prefix', () => {
    fc.assert(
      fc.property(prefix, bits, (value, length) => {
        const made = shardFromPrefix(value, length);
        expect(text(made)).toBe(value.toString(2).padStart(64, '0').slice(0, length));
        expect(shardPrefixBits(made)).toBe(length);
        expect(shardFromSigned(shardToSigned(made))).toBe(made);
      }),
      { seed: 12 },
    );
  });

  it('a shard splits into halves whose parent it is', () => {
    fc.assert(
      fc.property(shard, (value) => {
        const [left, right] = shardChildren(value);
        expect([text(left), text(right)]).toEqual([`${text(value)}0`, `${text(value)}1`]);
        expect([shardParent(left), shardParent(right)]).toEqual([value, value]);
      }),
      { seed: 13 },
    );
  });

  it('shards contain, precede and meet each other like their prefixes', () => {
    const near = fc.tuple(fc.bigInt(0n, 255n), fc.nat(8), fc.bigInt(0n, 255n), fc.nat(8));
    fc.assert(
      fc.property(near, prefix, ([one, oneBits, other, otherBits], account) => {
        const a = shardFromPrefix(one << 56n, oneBits);
        const b = shardFromPrefix(other << 56n, otherBits);
        expect(shardIsAncestor(a, b)).toBe(text(b).startsWith(text(a)));
        expect(shardsIntersect(a, b)).toBe(text(b).startsWith(text(a)) || text(a).startsWith(text(b)));
        expect(shardContainsPrefix(a, account)).toBe(account.toString(2).padStart(64, '0').startsWith(text(a)));
        const id = Buffer.alloc(32);
        id.writeBigUInt64BE(account);
        expect(shardContains(a, id)).toBe(shardContainsPrefix(a, account));
      }),
      { seed: 14, numRuns: 500 },
    );
  });

  it('the shard of the whole workchain contains everything', () => {
    expect(shardPrefixBits(FULL_SHARD)).toBe(0);
    expect(shardChildren(FULL_SHARD)).toEqual([0x4000000000000000n, 0xc000000000000000n]);
    expect(shardContains(FULL_SHARD, Buffer.alloc(32, 0xff))).toBe(true);
    expect(shardToSigned(FULL_SHARD)).toBe(-9223372036854775808n);
  });
});
