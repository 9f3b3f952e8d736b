import { beginCell, Cell } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBoc, type Boc } from '#service/decode/boc.ts';
import {
  BLOCK_FILE_OPTIONS,
  writeBoc,
  writeBocInSteps,
  writeBocText,
  writeRestText,
} from '#service/decode/boc-writer.ts';
import type { BocOptions } from '#service/decode/boc-writer.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { bagWithLeaves } from '#test/support/many-cells.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { cellTree } from './cells.ts';
import { answerBags, recordedFiles, tapeBlocks, tonlibBags } from './recorded.ts';
import type { RecordedBag } from './recorded.ts';

/** Returns the options shown by a bag's own header. */
function optionsOf(bytes: Buffer): BocOptions {
  const flags = bytes[4]!;
  const cacheBits = (flags & 0x20) !== 0;
  return {
    index: (flags & 0x80) !== 0,
    crc32c: (flags & 0x40) !== 0,
    cacheBits,
    // The node stores hashes in block files only. They are also the only files with cache bits.
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

/** Returns two cells whose hashes have the same first 32 bits. Among some 80,000 cells there are two. */
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

/** Writes a bag in steps. @returns the bag, and the cells that each step visits or copies */
function stepsOf(boc: Boc, root: number, options: BocOptions): { readonly bytes: Buffer; readonly steps: number[] } {
  let cells = 0;
  const table: CellTable = {
    size: boc.size,
    bytes: boc.bytes,
    kind: (cell) => boc.kind(cell),
    bitLength: (cell) => boc.bitLength(cell),
    refCount: (cell) => boc.refCount(cell),
    ref: (cell, position) => boc.ref(cell, position),
    levelMask: (cell) => boc.levelMask(cell),
    hash: (cell, level) => boc.hash(cell, level),
    depth: (cell, level) => boc.depth(cell, level),
    hashEquals: (cell, hash, level) => boc.hashEquals(cell, hash, level),
    hashPrefix: (cell, level) => {
      cells++;
      return boc.hashPrefix(cell, level);
    },
    dataOffset: (cell) => {
      cells++;
      return boc.dataOffset(cell);
    },
  };
  const steps: number[] = [];
  const writing = writeBocInSteps(table, root, options);
  for (;;) {
    cells = 0;
    const step = writing.next();
    steps.push(cells);
    if (step.done === true) return { bytes: step.value, steps };
  }
}

describe('writeBoc', () => {
  it('a written bag is read back by @ton/core, and by this reader with every choice of parts', () => {
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

  it('the rest of a cell is written as @ton/core makes a cell of it, and the slice does not move', () => {
    fc.assert(
      fc.property(cellTree, fc.nat(1023), fc.nat(4), (cell, bits, refs) => {
        const [skippedBits, skippedRefs] = [bits % (cell.bits.length + 1), refs % (cell.refs.length + 1)];
        const theirs = cell.beginParse().skip(skippedBits);
        for (let count = 0; count < skippedRefs; count++) theirs.loadRef();
        const boc = parseBoc(cell.toBoc());
        const slice = new CellSlice(boc, boc.roots[0]!);
        slice.skip(skippedBits);
        for (let count = 0; count < skippedRefs; count++) slice.ref();
        const text = writeRestText(slice, { crc32c: true });
        expect(Cell.fromBase64(text).hash()).toEqual(theirs.asCell().hash());
        const whole = parseBoc(theirs.asCell().toBoc());
        expect(text).toBe(writeBoc(whole, whole.roots, { crc32c: true }).toString('base64'));
        expect([slice.remainingBits, slice.remainingRefs]).toEqual([theirs.remainingBits, theirs.remainingRefs]);
      }),
      { seed: 3, numRuns: 300 },
    );
  });

  it('a bag larger than the reusable one is written, and small ones after it as before', () => {
    const cells = Array.from({ length: 3 * 4 ** 7 }, (_, at) => beginCell().storeUint(at, 32).endCell());
    let level = cells;
    while (level.length > 1) {
      const count = Math.ceil(level.length / 4);
      level = Array.from({ length: count }, (_, at) => new Cell({ refs: level.slice(at * 4, at * 4 + 4) }));
    }
    const [small, large] = [leaf(1), level[0]!].map((cell) => parseBoc(cell.toBoc({ crc32: false })));
    const before = writeBocText(small!, small!.roots);
    const text = writeBocText(large!, large!.roots);
    expect(parseBoc(Buffer.from(text, 'base64')).hash(0)).toEqual(level[0]!.hash());
    expect(writeBocText(small!, small!.roots)).toBe(before);
  });

  it('a bag that is written in steps has the same bytes, with every choice of parts', () => {
    const options = fc.record({
      crc32c: fc.boolean(),
      index: fc.boolean(),
      depthFirst: fc.boolean(),
      hashes: fc.boolean(),
    });
    fc.assert(
      fc.property(cellTree, options, (cell, chosen) => {
        const boc = parseBoc(cell.toBoc());
        const [root] = boc.roots as [number];
        expect(stepsOf(boc, root, chosen).bytes).toEqual(writeBoc(boc, [root], chosen));
      }),
      { seed: 4, numRuns: 300 },
    );
  });

  it('a step of the largest account visits or copies some 1,024 cells, and no more', () => {
    const boc = parseBoc(bagWithLeaves(49_152));
    expect(boc.size).toBe(65_536);
    const [root] = boc.roots as [number];
    boc.hash(root);
    const { bytes, steps } = stepsOf(boc, root, { crc32c: true });
    expect(bytes.equals(writeBoc(boc, [root], { crc32c: true }))).toBe(true);
    // The first step also visits the root.
    expect(Math.max(...steps)).toBe(1025);
    expect(steps.reduce((sum, cells) => sum + cells, 0)).toBe(2 * boc.size);
  });

  it('cells whose hashes begin alike are written separately', () => {
    const [one, other] = alike();
    const boc = parseBoc(beginCell().storeRef(one).storeRef(other).endCell().toBoc());
    const again = parseBoc(writeBoc(boc, boc.roots));
    expect(again.size).toBe(3);
    expect([0, 1].map((position) => again.hash(again.ref(again.roots[0]!, position)))).toEqual([
      one.hash(),
      other.hash(),
    ]);
  });

  it('a cell is written once, however often it is in the table', () => {
    // Two equal leaves, next to each other.
    const boc = parseBoc(Buffer.from('b5ee9c72010103010008000200010200000000', 'hex'));
    expect(boc.size).toBe(3);
    expect(parseBoc(writeBoc(boc, boc.roots)).size).toBe(2);
  });

  it('cells below a reference are written before the next reference if depth-first order is chosen', () => {
    const left = beginCell().storeUint(1, 8).storeRef(leaf(2)).endCell();
    const boc = parseBoc(beginCell().storeRef(left).storeRef(leaf(3)).endCell().toBoc());
    const written = parseBoc(writeBoc(boc, boc.roots, { depthFirst: true }));
    const bytes = [1, 2, 3].map((cell) => written.bytes[written.dataOffset(cell)]);
    expect(bytes).toEqual([1, 2, 3]);
  });

  it('a wrong stored hash is detected', () => {
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

/** Returns more cells than one part of a bag may have. */
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
    it('recorded block files are written again byte for byte', () => {
      const different = blocks.filter(({ bytes }) => !rewritten(bytes, BLOCK_FILE_OPTIONS).equals(bytes));
      expect(different.map(({ name }) => name)).toEqual([]);
    });

    it('bags in recorded lite-server answers are written again byte for byte', () => {
      expect(answers.length).toBeGreaterThan(0);
      expect(namesOfDifferent(answers)).toEqual([]);
    });
  },
);

describe.skipIf(skipLoudly(tonlib.length === 0, { what: 'recorded tonlib answers', why: 'no fixtures' }))(
  'tonlib',
  () => {
    it('bags of tonlib are written again byte for byte', () => {
      expect(namesOfDifferent(tonlib)).toEqual([]);
    });
  },
);

describe.skipIf(skipLoudly(files.length === 0, { what: 'recorded files', why: 'no fixtures' }))('files', () => {
  it.each(files)('$name has the same cells when written and read again', ({ bytes }) => {
    const boc = parseBoc(bytes);
    const again = parseBoc(writeBoc(boc, boc.roots, { crc32c: true }));
    expect(again.roots.map((root) => again.hash(root))).toEqual(boc.roots.map((root) => boc.hash(root)));
    expect(writeBoc(again, again.roots, BLOCK_FILE_OPTIONS)).toEqual(writeBoc(boc, boc.roots, BLOCK_FILE_OPTIONS));
  });
});
