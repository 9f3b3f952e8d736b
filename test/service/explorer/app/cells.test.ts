import { beginCell, Cell, Dictionary } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { parseBoc, readDictionary, readerOf, writeBoc } from '#service/explorer/app/cells.ts';

const base64 = (cell: Cell, options?: { idx?: boolean; crc32?: boolean }): string =>
  cell.toBoc(options).toString('base64');

describe('cells in the browser', () => {
  it('are read from every form of a bag that the TON library writes', () => {
    const shared = beginCell().storeUint(7, 3).endCell();
    const inner = beginCell().storeRef(shared).storeStringTail('abc').endCell();
    const root = beginCell()
      .storeInt(-5, 17)
      .storeCoins(10n ** 18n)
      .storeRef(inner)
      .storeRef(shared)
      .endCell();
    for (const options of [{}, { idx: true }, { crc32: true }, { idx: true, crc32: true }]) {
      const reader = readerOf(parseBoc(base64(root, options)));
      expect(reader.int(17)).toBe(-5n);
      expect(reader.coins()).toBe(10n ** 18n);
      expect(reader.bitsLeft()).toBe(0);
      const text = readerOf(reader.ref());
      expect(text.hex(24)).toBe('616263');
      expect(text.ref()).toEqual(reader.ref());
    }
  });

  it('are written as a bag that the TON library reads', () => {
    for (const bits of [0, 1, 7, 8, 13, 267]) {
      const bytes = Uint8Array.from({ length: Math.ceil(bits / 8) }, () => 0xa5);
      const cell = Cell.fromBase64(writeBoc(bytes, bits));
      const expected = beginCell().storeBits(cell.beginParse().loadBits(bits)).endCell();
      expect(cell.bits.length).toBe(bits);
      expect(cell.equals(expected)).toBe(true);
      expect(parseBoc(base64(cell)).bitLength).toBe(bits);
    }
  });

  it('have dictionaries with the same entries as in the TON library', () => {
    const dictionary = Dictionary.empty(Dictionary.Keys.Uint(32), Dictionary.Values.Uint(8));
    for (const key of [0, 1, 2, 3, 5, 100, 2 ** 31, 2 ** 32 - 1]) dictionary.set(key, key % 251);
    const root = beginCell().storeDictDirect(dictionary).endCell();
    const entries = readDictionary(parseBoc(base64(root)), 32).map(([key, value]) => [
      Number(key),
      Number(value.uint(8)),
    ]);
    expect(entries).toEqual([...dictionary].toSorted(([one], [other]) => one - other));
  });

  it('are refused when the bag is cut, or points back', () => {
    const bag = base64(beginCell().storeUint(1, 8).storeRef(Cell.EMPTY).endCell());
    for (let length = 0; length < bag.length - 8; length += 4)
      expect(() => parseBoc(bag.slice(0, length))).toThrow(/ends too early|root|no bag|none/);
    const bytes = Buffer.from(bag, 'base64');
    // The reference of the root is its last byte: it may not be the root.
    const looped = Buffer.from(bytes);
    looped[looped.indexOf(1, 14) === -1 ? 14 : looped.lastIndexOf(1)] = 0;
    expect(() => readerOf(parseBoc(looped.toString('base64'))).ref()).toThrow(/later cell/);
  });

  it('are not read beyond their end', () => {
    const reader = readerOf(parseBoc(base64(beginCell().storeUint(1, 8).endCell())));
    expect(() => reader.uint(9)).toThrow('too few bits');
    expect(() => reader.ref()).toThrow('too few references');
  });
});
