import { beginCell, Dictionary } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BitWriter } from '#service/decode/bit-writer.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { openExtra, updateHashmap } from '#service/decode/hashmap-writer.ts';
import type { HashmapChange } from '#service/decode/hashmap-writer.ts';
import { uintKey, walkHashmap } from '#service/decode/hashmap.ts';

const BITS = 19;

/** Numbers near each other, so that labels are of every length and form. */
const entries = fc.uniqueArray(fc.oneof(fc.nat(2 ** BITS - 1), fc.nat(40)), { maxLength: 60 });

function put(key: number, value: number | undefined): HashmapChange {
  const write = (writer: BitWriter): BitWriter => writer.uint(value!, 32);
  return { key: uintKey(key, BITS), write: value === undefined ? undefined : write };
}

/** Returns the hash of the root that @ton/core makes. */
function expectedRoot(values: ReadonlyMap<number, number>): string | undefined {
  const dictionary = Dictionary.empty(Dictionary.Keys.Uint(BITS), Dictionary.Values.Uint(32));
  for (const [key, value] of values) dictionary.set(key, value);
  return beginCell().storeDict(dictionary).endCell().refs[0]?.hash().toString('hex');
}

describe('dictionaries that are written', () => {
  it('written dictionaries equal those of @ton/core for the same entries, in any order of changes', () => {
    fc.assert(
      fc.property(fc.array(entries, { maxLength: 4 }), fc.array(fc.boolean()), (rounds, deletes) => {
        const store = createCellStore();
        const values = new Map<number, number>();
        let root: number | undefined;
        rounds.forEach((keys, round) => {
          const changes = keys.map((key, index) =>
            put(key, deletes[(index + round) % deletes.length] === true ? undefined : key + round),
          );
          root = updateHashmap(store, root, { bits: BITS }, changes);
          keys.forEach((key, index) => {
            if (changes[index]!.write === undefined) values.delete(key);
            else values.set(key, key + round);
          });
          expect(root === undefined ? undefined : store.hash(root).toString('hex')).toBe(expectedRoot(values));
        });
      }),
      { seed: 11, numRuns: 300 },
    );
  });

  it('removed entries leave a dictionary, down to an empty one', () => {
    const store = createCellStore();
    const all = [1, 2, 3, 77].map((key) => put(key, key));
    const root = updateHashmap(store, undefined, { bits: BITS }, all);
    expect(
      updateHashmap(
        store,
        root,
        { bits: BITS },
        all.map(({ key }) => ({ key, write: undefined })),
      ),
    ).toBeUndefined();
    expect(updateHashmap(store, undefined, { bits: BITS }, [put(5, undefined)])).toBeUndefined();
  });

  it('every branch has the sum of its entries as augmentation', () => {
    const augmentation = {
      join: (writer: BitWriter, left: { uint(bits: number): number }, right: { uint(bits: number): number }) =>
        writer.uint(left.uint(32) + right.uint(32), 32),
    };
    fc.assert(
      fc.property(entries, entries, (first, second) => {
        const store = createCellStore();
        const shape = { bits: BITS, augmentation };
        const add = (root: number | undefined, keys: readonly number[]): number | undefined =>
          updateHashmap(
            store,
            root,
            shape,
            keys.map((key) => ({ key: uintKey(key, BITS), write: (writer) => writer.uint(key, 32).uint(1, 8) })),
          );
        const root = add(add(undefined, first), second);
        const keys = new Set([...first, ...second]);
        const sum = [...keys].reduce((total, key) => total + key, 0);
        expect(root === undefined ? 0 : openExtra(store, root, BITS).uint(32)).toBe(sum);
        let count = 0;
        walkHashmap(store, root, BITS, () => void count++, { readExtra: (slice) => slice.skip(32) });
        expect(count).toBe(keys.size);
      }),
      { seed: 12, numRuns: 200 },
    );
  });
});
