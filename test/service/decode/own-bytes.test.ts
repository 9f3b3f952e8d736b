import { beginCell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { ownCopy } from '#service/decode/own-bytes.ts';
import { TlReader } from '#service/liteserver/tl/reader.ts';

/** Returns the bytes that stay in memory as long as the buffer. */
const heldBy = (bytes: Buffer): number => bytes.buffer.byteLength;

describe('short bytes that may live long', () => {
  const cell = beginCell().storeBuffer(Buffer.alloc(100, 7)).storeRef(beginCell().storeUint(1, 1)).endCell();
  const boc = parseBoc(cell.toBoc());
  const root = boc.roots[0]!;

  it('hashes of cells take no more memory than their bytes', () => {
    const store = createCellStore();
    expect(heldBy(boc.hash(root))).toBe(32);
    expect(heldBy(store.hash(store.import(boc, root)))).toBe(32);
  });

  it('fields of cells take no more memory than their bytes', () => {
    const slice = new CellSlice(boc, root);
    expect([heldBy(slice.hash()), heldBy(slice.bytes(20)), heldBy(slice.bits(77))]).toEqual([32, 20, 10]);
  });

  it('short fields do not reference the answer of a lite server that they come from', () => {
    const reader = new TlReader(Buffer.alloc(100_000));
    expect([heldBy(reader.raw(32)), heldBy(reader.raw(64))]).toEqual([32, 64]);
    expect(heldBy(reader.raw(1000))).toBe(100_000);
  });

  it('copies of any length are made on demand', () => {
    const long = Buffer.alloc(5000, 3);
    const copy = ownCopy(long.subarray(0, 500));
    expect([heldBy(copy), copy.equals(long.subarray(0, 500))]).toEqual([500, true]);
  });
});
