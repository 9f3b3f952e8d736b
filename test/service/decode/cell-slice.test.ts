import { beginCell } from '@ton/core';
import type { Builder } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';

/** Field: how @ton/core writes it, how it is read, and the expected value. */
type Field = {
  readonly write: (builder: Builder) => Builder;
  readonly read: (slice: CellSlice) => unknown;
  readonly value: unknown;
};

const unsigned = (bits: number): bigint => (1n << BigInt(bits)) - 1n;

const uint = fc.integer({ min: 0, max: 32 }).chain((bits) =>
  fc.bigInt(0n, unsigned(bits)).map((value): Field => ({
    write: (builder) => (bits === 0 ? builder : builder.storeUint(value, bits)),
    read: (slice) => slice.uint(bits),
    value: Number(value),
  })),
);
const int = fc.integer({ min: 1, max: 32 }).chain((bits) =>
  fc.bigInt(-(1n << BigInt(bits - 1)), unsigned(bits - 1)).map((value): Field => ({
    write: (builder) => builder.storeInt(value, bits),
    read: (slice) => slice.int(bits),
    value: Number(value),
  })),
);
const uintBig = fc.integer({ min: 1, max: 256 }).chain((bits) =>
  fc.bigInt(0n, unsigned(bits)).map((value): Field => ({
    write: (builder) => builder.storeUint(value, bits),
    read: (slice) => slice.uintBig(bits),
    value,
  })),
);
const intBig = fc.integer({ min: 1, max: 257 }).chain((bits) =>
  fc.bigInt(-(1n << BigInt(bits - 1)), unsigned(bits - 1)).map((value): Field => ({
    write: (builder) => builder.storeInt(value, bits),
    read: (slice) => slice.intBig(bits),
    value,
  })),
);
const long = fc.bigInt(0n, unsigned(64)).chain((value) =>
  fc.constantFrom<Field>(
    { write: (builder) => builder.storeUint(value, 64), read: (slice) => slice.uint64(), value },
    {
      write: (builder) => builder.storeUint(value, 64),
      read: (slice) => slice.int64(),
      value: BigInt.asIntN(64, value),
    },
  ),
);
const coins = fc.integer({ min: 0, max: 120 }).chain((bits) =>
  fc.bigInt(0n, unsigned(bits)).map((value): Field => ({
    write: (builder) => builder.storeCoins(value),
    read: (slice) => slice.coins(),
    value,
  })),
);
const varUint = fc.constantFrom(3, 7, 16, 32).chain((n) =>
  fc.bigInt(0n, unsigned(8 * (n - 1))).map((value): Field => ({
    write: (builder) => builder.storeVarUint(value, 32 - Math.clz32(n - 1)),
    read: (slice) => slice.varUint(n),
    value,
  })),
);
const varUintNumber = fc.bigInt(0n, unsigned(48)).map((value): Field => ({
  write: (builder) => builder.storeVarUint(value, 3),
  read: (slice) => slice.varUintNumber(7),
  value: Number(value),
}));
const bytes = fc.uint8Array({ maxLength: 40 }).map((value): Field => ({
  write: (builder) => builder.storeBuffer(Buffer.from(value)),
  read: (slice) => slice.bytes(value.length),
  value: Buffer.from(value),
}));
const bit = fc
  .boolean()
  .map((value): Field => ({ write: (builder) => builder.storeBit(value), read: (slice) => slice.bit(), value }));
const field = fc.oneof(uint, int, uintBig, intBig, long, coins, varUint, varUintNumber, bytes, bit);

function sliceOf(builder: Builder): CellSlice {
  const boc = parseBoc(builder.endCell().toBoc());
  return new CellSlice(boc, boc.roots[0]!);
}

describe('CellSlice', () => {
  it('a slice reads fields of @ton/core at any bit', () => {
    fc.assert(
      fc.property(fc.array(field, { maxLength: 12 }), (all) => {
        const builder = beginCell();
        const fields = all.filter(({ write }) => {
          if (builder.bits + beginCell().store(write).bits > 1023) return false;
          builder.store(write);
          return true;
        });
        const slice = sliceOf(builder);
        expect(fields.map(({ read }) => read(slice))).toEqual(fields.map(({ value }) => value));
        expect(slice.remainingBits).toBe(0);
        expect(slice.position).toBe(builder.bits);
        expect(() => slice.bit()).toThrow(expect.objectContaining({ code: 'cell_underflow' }));
      }),
      { seed: 9, numRuns: 1000 },
    );
  });

  it('the rest of a cell is returned as bits, with zeros after the last', () => {
    const slice = sliceOf(beginCell().storeUint(0b101, 3).storeUint(0x3ff, 10).storeUint(0b01, 2));
    slice.skip(3);
    expect(slice.peekUint(4)).toBe(15);
    expect(slice.bits(12)).toEqual(Buffer.from([0xff, 0xd0]));
    expect(slice.bits(0)).toEqual(Buffer.alloc(0));
  });

  it('a slice never reads over the end', () => {
    const reads: ((slice: CellSlice) => unknown)[] = [
      (slice) => slice.uint(8),
      (slice) => slice.uint64(),
      (slice) => slice.uintBig(65),
      (slice) => slice.bytes(1),
      (slice) => slice.bits(8),
      (slice) => slice.skip(8),
      (slice) => slice.coins(),
      (slice) => slice.varUint(32),
      (slice) => slice.skipVarUint(16),
      (slice) => slice.ref(),
      (slice) => slice.maybeRef(),
    ];
    for (const read of reads) {
      expect(() => read(sliceOf(beginCell().storeUint(0x7f, 7)))).toThrow(
        expect.objectContaining({ code: 'cell_underflow' }),
      );
    }
  });

  it('references are read in order, and a copy moves separately', () => {
    const builder = beginCell().storeBit(true);
    for (const value of [1, 2, 3]) builder.storeRef(beginCell().storeUint(value, 8).endCell());
    const slice = sliceOf(builder);
    expect(slice.refSlice().uint(8)).toBe(1);
    const copy = slice.clone();
    expect([slice.refSlice().uint(8), slice.refSlice().uint(8)]).toEqual([2, 3]);
    expect(slice.remainingRefs).toBe(0);
    expect(new CellSlice(copy.table, copy.maybeRef()!).uint(8)).toBe(2);
    expect(copy.remainingRefs).toBe(1);
  });

  it('a wrong tag is reported with its type', () => {
    expect(() => sliceOf(beginCell().storeUint(5, 8)).expectTag(8, 6, 'Thing')).toThrow(
      expect.objectContaining({ code: 'bad_tag', data: expect.objectContaining({ type: 'Thing', found: 5 }) }),
    );
  });
});
