import { beginCell, Dictionary } from '@ton/core';
import type { Cell } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { keyUint, lookupHashmap, uintKey, walkHashmap } from '#service/decode/hashmap.ts';
import type { WalkOptions } from '#service/decode/hashmap.ts';
import { addMerkleProof } from '#service/decode/merkle-builder.ts';
import { merkleProofRoot } from '#service/decode/merkle.ts';

const BITS = 19;

/** Numbers near each other, so that labels are of every length and form. */
const entries = fc.uniqueArray(fc.oneof(fc.nat(2 ** BITS - 1), fc.nat(40)), { maxLength: 60 });

function dictionaryCell(keys: readonly number[]): Cell {
  const dictionary = Dictionary.empty(Dictionary.Keys.Uint(BITS), Dictionary.Values.Uint(32));
  for (const key of keys) dictionary.set(key, key * 3);
  return beginCell().storeDict(dictionary).endCell();
}

function open(cell: Cell) {
  const boc = parseBoc(cell.toBoc());
  return { boc, root: new CellSlice(boc, boc.roots[0]!).maybeRef() };
}

function keysOf(cell: Cell, options?: WalkOptions): number[] {
  const { boc, root } = open(cell);
  const seen: number[] = [];
  walkHashmap(
    boc,
    root,
    BITS,
    (key, value) => {
      const number = keyUint(key, BITS);
      expect(value.uint(32)).toBe(number * 3);
      seen.push(number);
    },
    options,
  );
  return seen;
}

const ascending = (one: number, other: number): number => one - other;

describe('dictionaries', () => {
  it('a dictionary is walked in the order of its keys, in both directions, from any key on', () => {
    fc.assert(
      fc.property(entries, fc.nat(2 ** BITS - 1), fc.boolean(), (keys, start, exclusive) => {
        const cell = dictionaryCell(keys);
        const sorted = keys.toSorted(ascending);
        expect(keysOf(cell)).toEqual(sorted);
        expect(keysOf(cell, { reverse: true })).toEqual(sorted.toReversed());
        for (const from of [start, sorted[start % Math.max(1, sorted.length)] ?? start]) {
          const isIn = (key: number): boolean => key !== from || !exclusive;
          const options = { from: uintKey(from, BITS), exclusive };
          expect(keysOf(cell, options)).toEqual(sorted.filter((key) => key >= from && isIn(key)));
          expect(keysOf(cell, { ...options, reverse: true })).toEqual(
            sorted.filter((key) => key <= from && isIn(key)).toReversed(),
          );
        }
      }),
      { seed: 7, numRuns: 200 },
    );
  });

  it('lookup finds the existing entries and nothing else', () => {
    fc.assert(
      fc.property(entries, fc.nat(2 ** BITS - 1), (keys, other) => {
        const { boc, root } = open(dictionaryCell(keys));
        for (const key of [...keys, other]) {
          const value = lookupHashmap(boc, root, BITS, uintKey(key, BITS))?.uint(32);
          expect(value).toBe(keys.includes(key) ? key * 3 : undefined);
        }
      }),
      { seed: 8, numRuns: 200 },
    );
  });

  it('a walk ends when the visitor ends it', () => {
    const { boc, root } = open(dictionaryCell([1, 2, 3]));
    let visits = 0;
    expect(walkHashmap(boc, root, BITS, () => ++visits < 2)).toBe(false);
    expect(visits).toBe(2);
  });

  it('a dictionary in a proof distinguishes absent entries from hidden ones', () => {
    const store = createCellStore();
    const { boc, root } = open(dictionaryCell([5, 6, 400_000, 400_001]));
    const stored = store.import(boc, root!);
    const high = store.ref(stored, 1);
    const proof = merkleProofRoot(
      store,
      addMerkleProof(store, { source: store, root: stored, opened: (cell) => cell === stored || cell === high }),
    );
    expect(lookupHashmap(store, proof, BITS, uintKey(400_000, BITS))?.uint(32)).toBe(1_200_000);
    expect(lookupHashmap(store, proof, BITS, uintKey(500_000, BITS))).toBeUndefined();
    const hidden = expect.objectContaining({ code: 'pruned_branch' });
    expect(() => lookupHashmap(store, proof, BITS, uintKey(5, BITS))).toThrow(hidden);
    expect(() => walkHashmap(store, proof, BITS, () => {})).toThrow(hidden);
  });

  it.each([
    ['a short label longer than the key', '0111110', 'bad_hashmap'],
    ['a long label longer than the key', '1011100', 'bad_hashmap'],
    ['a long label without its bits', '10100', 'bad_hashmap'],
    ['a label that is cut', '10', 'cell_underflow'],
    ['a fork without branches', '00', 'cell_underflow'],
    ['no label', '', 'cell_underflow'],
  ])('a dictionary with %s is refused', (_, text, code) => {
    const builder = beginCell();
    for (const bit of text) builder.storeBit(bit === '1');
    const boc = parseBoc(builder.endCell().toBoc());
    const refused = expect.objectContaining({ code });
    expect(() => lookupHashmap(boc, 0, 4, uintKey(15, 4))).toThrow(refused);
    expect(() => walkHashmap(boc, 0, 4, () => {})).toThrow(refused);
  });

  it('a dictionary that spells 2^256 entries in 256 cells ends by the bound', () => {
    let cell = beginCell().storeBit(false).storeBit(false).endCell();
    for (let bit = 0; bit < 256; bit++)
      cell = beginCell().storeBit(false).storeBit(false).storeRef(cell).storeRef(cell).endCell();
    const boc = parseBoc(cell.toBoc());
    expect(() => walkHashmap(boc, 0, 256, () => {})).toThrow(expect.objectContaining({ code: 'too_big' }));
    expect(lookupHashmap(boc, 0, 256, Buffer.alloc(32, 0x5a))).toBeDefined();
  });

  it('a dictionary may have keys of any length', () => {
    expect(uintKey(5, 3)).toEqual(Buffer.from([0b1010_0000]));
    expect(uintKey(-1, 32)).toEqual(Buffer.alloc(4, 0xff));
    expect(keyUint(uintKey(12_345, 15), 15)).toBe(12_345);
    expect(keyUint(uintKey(0xffff_fffe, 32), 32)).toBe(0xffff_fffe);
  });
});
