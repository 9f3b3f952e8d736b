import { beginCell, Cell } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBagReader, parseBoc, parseBocInSteps } from '#service/decode/boc.ts';
import type { Boc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { crc32c } from '#service/decode/crc32c.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { bagWithLeaves } from '#test/support/many-cells.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { cellTree } from './cells.ts';
import { answerBags, recordedFiles, tapeBlocks, tonlibBags } from './recorded.ts';

/** Returns the code of the DecodeError that `work` throws. Any other error is thrown on. */
function refusal(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof DecodeError) return error.code;
    throw error;
  }
}

function sameAsCore(boc: Boc, index: number, cell: Cell): void {
  expect(boc.bitLength(index)).toBe(cell.bits.length);
  expect(boc.refCount(index)).toBe(cell.refs.length);
  expect(boc.levelMask(index)).toBe(cell.mask.value);
  for (const level of [0, 1, 2, 3]) {
    expect(boc.hash(index, level)).toEqual(cell.hash(level));
    expect(boc.depth(index, level)).toBe(cell.depth(level));
  }
  cell.refs.forEach((child, position) => sameAsCore(boc, boc.ref(index, position), child));
}

/** Returns a bag of ordinary cells of which each refers to the next. */
function chain(length: number): Buffer {
  // Two bytes for a cell number, three for an offset.
  const head = Buffer.from('b5ee9c7202030000000100000000000000', 'hex');
  const cells = Array.from({ length }, (_, at) => (at < length - 1 ? [1, 0, (at + 1) >> 8, (at + 1) & 255] : [0, 0]));
  const data = Buffer.from(cells.flat());
  head.writeUInt16BE(length, 6);
  head.writeUIntBE(data.length, 12, 3);
  return Buffer.concat([head, data]);
}

describe('parseBoc', () => {
  it('bags of @ton/core are read, with and without index and CRC', () => {
    fc.assert(
      fc.property(cellTree, fc.boolean(), fc.boolean(), (cell, idx, crc32) => {
        const boc = parseBoc(cell.toBoc({ idx, crc32 }));
        expect(boc.roots).toHaveLength(1);
        sameAsCore(boc, boc.roots[0]!, cell);
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  it('the two older forms, whose root is the first cell, are read', () => {
    const cell = beginCell().storeUint(5, 8).storeRef(beginCell().storeUint(7, 13).endCell()).endCell();
    const generic = cell.toBoc({ idx: true, crc32: false });
    // The generic header lists one root, in a byte after the counts; the older ones do not.
    const old = (magic: string): Buffer =>
      Buffer.concat([
        Buffer.from(magic, 'hex'),
        Buffer.from([generic[4]! & 7]),
        generic.subarray(5, 10),
        generic.subarray(11),
      ]);
    const indexed = old('68ff65f3');
    const checked = old('acc3a728');
    const crc = Buffer.alloc(4);
    crc.writeUInt32LE(crc32c(checked));
    for (const bytes of [indexed, Buffer.concat([checked, crc])]) {
      const boc = parseBoc(bytes);
      expect(boc.hash(boc.roots[0]!)).toEqual(cell.hash());
    }
    expect(refusal(() => parseBoc(Buffer.concat([checked, Buffer.alloc(4)])))).toBe('crc_mismatch');
  });

  it('several roots are read, also one twice', () => {
    const boc = parseBoc(beginCell().storeUint(5, 8).storeRef(beginCell().endCell()).endCell().toBoc());
    const [root] = boc.roots as [number];
    const many = parseBoc(writeBoc(boc, [boc.ref(root, 0), root]));
    expect(many.roots.map((cell) => many.hash(cell))).toEqual([boc.hash(boc.ref(root, 0)), boc.hash(root)]);
    const twice = parseBoc(writeBoc(boc, [root, root]));
    expect(twice.roots.map((cell) => twice.hash(cell))).toEqual([boc.hash(root), boc.hash(root)]);
  });

  it.each([
    ['nothing', '', 'bad_boc'],
    ['another magic number', 'b5ee9c73010101010002000000', 'bad_boc'],
    ['an empty cell', 'b5ee9c72010101010002000000', undefined],
    ['a byte too many', 'b5ee9c7201010101000200000000', 'bad_boc'],
    ['a byte too few', 'b5ee9c720101010100020000', 'bad_boc'],
    ['no cells', 'b5ee9c72010100010002000000', 'bad_boc'],
    ['no roots', 'b5ee9c720101010000020000', 'bad_boc'],
    ['a root that is no cell', 'b5ee9c72010101010002010000', 'bad_boc'],
    ['an absent cell', 'b5ee9c72010101010102000000', 'bad_boc'],
    ['a cell that says it is absent', 'b5ee9c72010101010002001700', 'bad_boc'],
    ['five references', 'b5ee9c72010101010002000500', 'bad_boc'],
    ['unknown flags', 'b5ee9c72090101010002000000', 'bad_boc'],
    ['cache bits without an index', 'b5ee9c72210101010002000000', 'bad_boc'],
    ['no bytes for a cell number', 'b5ee9c72000101010002000000', 'bad_boc'],
    ['nine bytes for an offset', 'b5ee9c720109010100000000000000000200000000', 'bad_boc'],
    ['a reference to itself', 'b5ee9c7201010101000300010000', 'bad_boc'],
    ['a reference behind the last cell', 'b5ee9c7201010101000300010001', 'bad_boc'],
    ['a cell with a needless byte', 'b5ee9c7201010101000300000180', 'bad_boc'],
    ['an exotic cell without a type', 'b5ee9c72010101010002000800', 'bad_cell'],
    ['an exotic cell of an unknown type', 'b5ee9c7201010101000300080205', 'bad_cell'],
    ['a level that nothing explains', 'b5ee9c72010101010002002000', 'bad_cell'],
    ['four million cells in 20 bytes', 'b5ee9c72040800400000000000010000000000000000000000020000000000', 'too_big'],
  ])('a bag of %s is refused or read', (_, hex, code) => {
    expect(refusal(() => parseBoc(Buffer.from(hex, 'hex')))).toBe(code);
  });

  it('a wrong index is refused', () => {
    const cell = beginCell().storeUint(5, 8).storeRef(beginCell().storeUint(7, 13).endCell()).endCell();
    const bytes = cell.toBoc({ idx: true, crc32: false });
    bytes[11]! ^= 1;
    expect(refusal(() => parseBoc(bytes))).toBe('bad_boc');
  });

  it('bytes, cells, roots and depth are bounded', () => {
    const deepest = parseBoc(chain(1025));
    expect(deepest.depth(0)).toBe(1024);
    expect(deepest.hash(0)).toHaveLength(32);
    expect(refusal(() => parseBoc(chain(1026)))).toBe('too_big');
    expect(refusal(() => parseBoc(chain(60_000)))).toBe('too_big');
    expect(refusal(() => parseBoc(chain(10), { cellsMax: 9 }))).toBe('too_big');
    expect(refusal(() => parseBoc(chain(10), { bytesMax: 40 }))).toBe('too_big');
    const two = writeBoc(deepest, [0, 1]);
    expect(refusal(() => parseBoc(two, { rootsMax: 1 }))).toBe('too_big');
  });

  it('a hostile web of shared cells is hashed in no time', () => {
    // 200 cells, each with four references to the next: 4^200 paths.
    const count = 200;
    const cells = Array.from({ length: count }, (_, at) =>
      at < count - 1 ? [4, 0, at + 1, at + 1, at + 1, at + 1] : [0, 0],
    );
    const data = Buffer.from(cells.flat());
    const head = Buffer.from(`b5ee9c720102${count.toString(16)}0100000000`, 'hex');
    head.writeUInt16BE(data.length, 9);
    const boc = parseBoc(Buffer.concat([head, data]));
    expect(boc.hash(0)).toHaveLength(32);
    expect(parseBoc(writeBoc(boc, boc.roots)).hash(0)).toEqual(boc.hash(0));
  });
});

const files = recordedFiles();
const blocks = tapeBlocks();
const bags = [...answerBags(), ...tonlibBags()];

describe.skipIf(skipLoudly(files.length === 0, { what: 'recorded bags', why: 'no fixtures' }))('recorded files', () => {
  it.each(files)('$name has the root that @ton/core reads', ({ bytes }) => {
    const boc = parseBoc(bytes);
    const cells = Cell.fromBoc(bytes);
    expect(boc.roots).toHaveLength(cells.length);
    cells.forEach((cell, at) => {
      for (const level of [0, 1, 2, 3]) {
        expect(boc.hash(boc.roots[at]!, level)).toEqual(cell.hash(level));
        expect(boc.depth(boc.roots[at]!, level)).toBe(cell.depth(level));
      }
    });
  });
});

describe.skipIf(skipLoudly(blocks.length === 0, { what: 'recorded tapes', why: 'no fixtures' }))(
  'recorded networks',
  () => {
    it('recorded blocks have the root hashes of their ids, though the files store hashes', () => {
      const wrong = blocks.filter(({ bytes, rootHash }) => {
        const boc = parseBoc(bytes);
        return !boc.hash(boc.roots[0]!).equals(rootHash);
      });
      expect(wrong.map(({ name }) => name)).toEqual([]);
    });

    it('recorded answers are full of bags, which @ton/core reads the same', () => {
      expect(bags.length).toBeGreaterThan(0);
      const step = Math.ceil(bags.length / 400);
      const parsed = bags
        .filter((_, at) => at % step === 0)
        .map(({ bytes }) => ({ bytes, boc: parseBoc(bytes, { rootLevelMax: 3 }) }))
        // @ton/core uses a pruned cell's level as its number of hashes and cannot read masks with gaps.
        .filter(({ boc }) => !hasPrunedGap(boc));
      expect(parsed.length).toBeGreaterThan(0);
      for (const { boc, bytes } of parsed) {
        expect(boc.roots.map((root) => boc.hash(root))).toEqual(Cell.fromBoc(bytes).map((cell) => cell.hash()));
      }
    });
  },
);

function hasPrunedGap(boc: Boc): boolean {
  return Array.from({ length: boc.size }, (_, cell) => cell).some(
    (cell) => boc.kind(cell) === 'pruned' && ![1, 3, 7].includes(boc.levelMask(cell)),
  );
}

describe('parseBocInSteps', () => {
  it('reads bags and refuses bags as parseBoc does', () => {
    fc.assert(
      fc.property(cellTree, fc.boolean(), fc.nat(), fc.nat(255), (cell, crc32, at, byte) => {
        const bytes = cell.toBoc({ idx: false, crc32 });
        const read = inSteps(bytes);
        sameAsCore(read, read.roots[0]!, cell);
        const bad = Buffer.from(bytes);
        bad[at % bad.length] = byte;
        expect(refusal(() => inSteps(bad))).toEqual(refusal(() => parseBoc(bad)));
      }),
      { seed: 3, numRuns: 200 },
    );
  });

  it('reads at most 4,096 cells in a step', () => {
    const bytes = bagWithLeaves(24_576);
    const steps = parseBocInSteps(bytes);
    let count = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) count++;
    const [read, whole] = [step.value, parseBoc(bytes)];
    expect(read.size).toBe(whole.size);
    expect(read.hash(read.roots[0]!)).toEqual(whole.hash(whole.roots[0]!));
    expect(count).toBe(2 * Math.ceil(whole.size / 4096));
  });
});

function inSteps(bytes: Buffer): Boc {
  const steps = parseBocInSteps(bytes);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

describe('a reader of bags', () => {
  it('a reader reads bags one after another as if each were the first, bad ones between them', () => {
    const readBag = createBagReader();
    fc.assert(
      fc.property(cellTree, fc.boolean(), fc.nat(20), (cell, crc32, cut) => {
        const bytes = cell.toBoc({ idx: false, crc32 });
        const boc = readBag(bytes);
        expect(boc.roots).toHaveLength(1);
        expect(boc.size).toBe(parseBoc(bytes).size);
        sameAsCore(boc, boc.roots[0]!, cell);
        expect(refusal(() => readBag(bytes.subarray(0, -1 - cut)))).toBeDefined();
      }),
      { seed: 2, numRuns: 200 },
    );
  });

  it('a reader makes room for larger bags', () => {
    const readBag = createBagReader();
    for (const cells of [3, 200, 5, 900]) {
      const boc = readBag(chain(cells));
      expect([boc.size, boc.depth(boc.roots[0]!)]).toEqual([cells, cells - 1]);
    }
  });
});
