import { beginCell, Cell } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import { BLOCK_FILE_OPTIONS, writeBoc } from '#service/decode/boc-writer.ts';
import type { BocOptions } from '#service/decode/boc-writer.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { cellTree } from './cells.ts';
import { answerBags, recordedFiles, tapeBlocks, tonlibBags } from './recorded.ts';
import type { RecordedBag } from './recorded.ts';

/** The options that a bag's own header shows. */
function optionsOf(bytes: Buffer): BocOptions {
  const flags = bytes[4]!;
  const cacheBits = (flags & 0x20) !== 0;
  return {
    index: (flags & 0x80) !== 0,
    crc32c: (flags & 0x40) !== 0,
    cacheBits,
    // The node stores hashes in block files alone, which are also the only ones with cache bits.
    hashes: cacheBits,
  };
}

function rewritten(bytes: Buffer, options = optionsOf(bytes)): Buffer {
  const boc = parseBoc(bytes, { rootLevelMax: 3 });
  return writeBoc(boc, boc.roots, options);
}

function namesOfDifferent(bags: readonly RecordedBag[]): string[] {
  return bags.filter(({ bytes }) => !rewritten(bytes).equals(bytes)).map(({ name }) => name);
}

const leaf = (bits: number): Cell => beginCell().storeUint(bits, 8).endCell();

/** Two cells whose hashes have the same first 32 bits: among some 80,000 there are two. */
function alike(): readonly [Cell, Cell] {
  const seen = new Map<number, Cell>();
  for (let value = 0; ; value++) {
    const cell = beginCell().storeUint(value, 32).endCell();
    const prefix = cell.hash().readUInt32BE(0);
    const known = seen.get(prefix);
    if (known !== undefined) return [known, cell];
    seen.set(prefix, cell);
  }
}

describe('writeBoc', () => {
  it('is read back by @ton/core, and by ourselves with every choice of parts', () => {
    fc.assert(
      fc.property(
        cellTree,
        fc.record({ crc32c: fc.boolean(), index: fc.boolean(), depthFirst: fc.boolean() }),
        fc.record({ cacheBits: fc.boolean(), hashes: fc.boolean() }),
        (cell, common, rare) => {
          const boc = parseBoc(cell.toBoc());
          const plain = writeBoc(boc, boc.roots, common);
          expect(Cell.fromBoc(plain)[0]!.hash()).toEqual(cell.hash());
          const options = { ...common, hashes: rare.hashes, cacheBits: rare.cacheBits && common.index };
          const again = parseBoc(writeBoc(boc, boc.roots, options));
          expect(again.hash(again.roots[0]!)).toEqual(cell.hash());
          expect(writeBoc(again, again.roots, options)).toEqual(writeBoc(boc, boc.roots, options));
        },
      ),
      { seed: 2, numRuns: 300 },
    );
  });

  it('writes cells apart whose hashes begin alike', () => {
    const [one, other] = alike();
    const boc = parseBoc(beginCell().storeRef(one).storeRef(other).endCell().toBoc());
    const again = parseBoc(writeBoc(boc, boc.roots));
    expect(again.size).toBe(3);
    expect([0, 1].map((position) => again.hash(again.ref(again.roots[0]!, position)))).toEqual([
      one.hash(),
      other.hash(),
    ]);
  });

  it('writes a cell once, however often it stands in the table', () => {
    // Two equal leaves, side by side.
    const boc = parseBoc(Buffer.from('b5ee9c72010103010008000200010200000000', 'hex'));
    expect(boc.size).toBe(3);
    expect(parseBoc(writeBoc(boc, boc.roots)).size).toBe(2);
  });

  it('writes what is below a reference before the next reference, when asked to', () => {
    const left = beginCell().storeUint(1, 8).storeRef(leaf(2)).endCell();
    const boc = parseBoc(beginCell().storeRef(left).storeRef(leaf(3)).endCell().toBoc());
    const written = parseBoc(writeBoc(boc, boc.roots, { depthFirst: true }));
    const bytes = [1, 2, 3].map((cell) => written.bytes[written.dataOffset(cell)]);
    expect(bytes).toEqual([1, 2, 3]);
  });

  it('makes a hash that is stored wrong be noticed', () => {
    const tree = parseBoc(manyCells().toBoc());
    const bytes = writeBoc(tree, tree.roots, { hashes: true });
    const stored = Buffer.from(bytes);
    const offsets = Array.from({ length: tree.size }, (_, cell) => bytes.indexOf(tree.hash(cell)));
    const at = Math.max(...offsets);
    expect(at).toBeGreaterThan(0);
    stored[at]! ^= 1;
    const boc = parseBoc(stored);
    expect(() => boc.hash(boc.roots[0]!)).toThrow('The bag stores a wrong hash.');
    const depth = Buffer.from(bytes);
    depth[at + 33]! ^= 1;
    expect(() => parseBoc(depth)).toThrow('The bag stores a wrong depth.');
  });
});

/** More cells than one part of a bag may have. */
function manyCells(): Cell {
  let cells = Array.from({ length: 256 }, (_, at) => Cell.fromHex(`b5ee9c72010101010006000008${hex32(at)}`));
  while (cells.length > 1) {
    cells = Array.from({ length: cells.length / 4 }, (_, at) => new Cell({ refs: cells.slice(at * 4, at * 4 + 4) }));
  }
  return cells[0]!;
}

function hex32(value: number): string {
  return value.toString(16).padStart(8, '0');
}

const blocks = tapeBlocks();
const tonlib = tonlibBags();
const answers = answerBags();
const files = recordedFiles();

describe.skipIf(skipLoudly(blocks.length === 0, { what: 'recorded tapes', why: 'no fixtures' }))(
  'recorded networks',
  () => {
    it('have block files that are written again byte for byte', () => {
      const different = blocks.filter(({ bytes }) => !rewritten(bytes, BLOCK_FILE_OPTIONS).equals(bytes));
      expect(different.map(({ name }) => name)).toEqual([]);
    });

    it('have lite-server answers whose bags are written again byte for byte', () => {
      expect(answers.length).toBeGreaterThan(0);
      expect(namesOfDifferent(answers)).toEqual([]);
    });
  },
);

describe.skipIf(skipLoudly(tonlib.length === 0, { what: 'recorded tonlib answers', why: 'no fixtures' }))(
  'tonlib',
  () => {
    it('gives bags that are written again byte for byte', () => {
      expect(namesOfDifferent(tonlib)).toEqual([]);
    });
  },
);

describe.skipIf(skipLoudly(files.length === 0, { what: 'recorded files', why: 'no fixtures' }))('files', () => {
  it.each(files)('$name holds the same cells when written and read again', ({ bytes }) => {
    const boc = parseBoc(bytes);
    const again = parseBoc(writeBoc(boc, boc.roots, { crc32c: true }));
    expect(again.roots.map((root) => again.hash(root))).toEqual(boc.roots.map((root) => boc.hash(root)));
    expect(writeBoc(again, again.roots, BLOCK_FILE_OPTIONS)).toEqual(writeBoc(boc, boc.roots, BLOCK_FILE_OPTIONS));
  });
});
