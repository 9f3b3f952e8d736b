import {
  beginCell,
  Cell,
  convertToMerkleProof,
  generateMerkleProofDirect,
  generateMerkleUpdate,
  Dictionary,
} from '@ton/core';
import { describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import type { CellKind } from '#service/decode/cell-table.ts';
import { DecodeError } from '#service/decode/errors.ts';

const leaf = beginCell().storeUint(0xabcdef, 24).endCell();
const tree = beginCell().storeUint(1, 3).storeRef(leaf).storeRef(beginCell().storeRef(leaf).endCell()).endCell();

function library(): Cell {
  return beginCell().storeUint(2, 8).storeBuffer(leaf.hash()).endCell({ exotic: true });
}

/** Returns a pruned branch with as many hashes as the mask has bits. */
function pruned(mask: number, fill = 7): Cell {
  const count = mask.toString(2).replaceAll('0', '').length;
  const builder = beginCell().storeUint(1, 8).storeUint(mask, 8);
  for (let at = 0; at < count; at++) builder.storeBuffer(Buffer.alloc(32, fill + at));
  for (let at = 0; at < count; at++) builder.storeUint(20 + at, 16);
  return builder.endCell({ exotic: true });
}

function merkleProof(child: Cell): Cell {
  return convertToMerkleProof(child);
}

function merkleUpdate(from: Cell, to: Cell): Cell {
  return beginCell()
    .storeUint(4, 8)
    .storeBuffer(from.hash(0))
    .storeBuffer(to.hash(0))
    .storeUint(from.depth(0), 16)
    .storeUint(to.depth(0), 16)
    .storeRef(from)
    .storeRef(to)
    .endCell({ exotic: true });
}

function over(...children: Cell[]): Cell {
  return children.reduce((builder, child) => builder.storeRef(child), beginCell().storeUint(9, 5)).endCell();
}

const dictionary = Dictionary.empty(Dictionary.Keys.Uint(32), Dictionary.Values.Uint(32));
for (let key = 0; key < 40; key++) dictionary.set(key * 7, key);

const shapes: [string, Cell, CellKind][] = [
  ['a library', library(), 'library'],
  ['a pruned branch of level 1', pruned(1), 'pruned'],
  ['a pruned branch of levels 1 and 2', pruned(3), 'pruned'],
  ['a pruned branch of all levels', pruned(7), 'pruned'],
  ['a Merkle proof of a whole tree', merkleProof(tree), 'merkleProof'],
  ['a Merkle proof with a pruned branch', merkleProof(over(pruned(1), leaf)), 'merkleProof'],
  ['a Merkle proof with a pruned branch of two levels', merkleProof(over(pruned(3), leaf)), 'merkleProof'],
  ['a Merkle proof in a Merkle proof', merkleProof(over(merkleProof(over(pruned(3), leaf)), pruned(1))), 'merkleProof'],
  ['a Merkle update', merkleUpdate(over(pruned(1), leaf), over(leaf, pruned(1))), 'merkleUpdate'],
  ['a Merkle update over a proof', merkleUpdate(over(merkleProof(over(pruned(3)))), leaf), 'merkleUpdate'],
  ['an ordinary cell over all levels', over(pruned(7), pruned(3), pruned(1), leaf), 'ordinary'],
  ['a proof that @ton/core made', generateMerkleProofDirect(dictionary, [7, 21], Dictionary.Keys.Uint(32)), 'ordinary'],
  ['an update that @ton/core made', generateMerkleUpdate(dictionary, 14, Dictionary.Keys.Uint(32), 99), 'merkleUpdate'],
];

describe('exotic cells', () => {
  it.each(shapes)('the exotic cell %s has the hashes, depths and levels of @ton/core', (_, cell, kind) => {
    const boc = parseBoc(cell.toBoc(), { rootLevelMax: 3 });
    const [root] = boc.roots as [number];
    expect(boc.kind(root)).toBe(kind);
    expect(boc.levelMask(root)).toBe(cell.mask.value);
    for (const level of [0, 1, 2, 3]) {
      expect(boc.hash(root, level)).toEqual(cell.hash(level));
      expect(boc.depth(root, level)).toBe(cell.depth(level));
    }
    expect(Cell.fromBoc(writeBoc(boc, [root]))[0]!.hash()).toEqual(cell.hash());
    const stored = parseBoc(writeBoc(boc, [root], { hashes: true }), { rootLevelMax: 3 });
    expect(stored.hash(stored.roots[0]!)).toEqual(cell.hash());
    const store = createCellStore();
    const copy = store.import(boc, root);
    expect([0, 1, 2, 3].map((level) => store.hash(copy, level))).toEqual([0, 1, 2, 3].map((level) => cell.hash(level)));
  });

  it.each([
    ['level 2', 2],
    ['level 3', 4],
    ['levels 1 and 3', 5],
    ['levels 2 and 3', 6],
  ])('a pruned branch of %s, which @ton/core cannot read, has its hashes by its mask', (_, mask) => {
    // The store's rules are the reader's; here the expected values are in the cell itself.
    const count = mask.toString(2).replaceAll('0', '').length;
    const data = Buffer.alloc(2 + 34 * count, 3);
    data.set([1, mask]);
    for (let at = 0; at < count; at++) {
      data.fill(at + 1, 2 + 32 * at, 34 + 32 * at);
      data.writeUInt16BE(30 + at, 2 + 32 * count + 2 * at);
    }
    const store = createCellStore();
    const cell = store.add({ kind: 'pruned', data, bitLength: data.length * 8, refs: [] });
    const levels = [0, 1, 2, 3].map((level) => {
      const index = [0, 1, 2].filter((bit) => bit < level && (mask & (1 << bit)) !== 0).length;
      const isOwn = index === count;
      return { level, hash: isOwn ? store.hash(cell) : Buffer.alloc(32, index + 1), depth: isOwn ? 0 : 30 + index };
    });
    expect(levels.map(({ level }) => store.hash(cell, level))).toEqual(levels.map(({ hash }) => hash));
    expect(levels.map(({ level }) => store.depth(cell, level))).toEqual(levels.map(({ depth }) => depth));
    expect(store.find(store.hash(cell))).toBe(cell);
  });

  it.each([
    ['a pruned branch that is cut', pruned(1), 8],
    ['a library that is cut', library(), 8],
    ['a proof that is cut', merkleProof(tree), 16],
    ['an update that is cut', merkleUpdate(leaf, tree), 16],
  ])('the exotic cell is refused: %s', (_, cell, bits) => {
    const short = cell.bits.substring(0, cell.bits.length - bits);
    const store = createCellStore();
    const refs = cell.refs.map((child) => {
      const boc = parseBoc(child.toBoc());
      return store.import(boc, boc.roots[0]!);
    });
    const before = store.size;
    const kind = shapes.find(([, shape]) => shape.type === cell.type)![2];
    const data = Buffer.from(short.toString(), 'hex');
    expect(() => store.add({ kind, data, bitLength: short.length, refs })).toThrow(DecodeError);
    expect(store.size).toBe(before);
  });

  it('a Merkle cell with a false child hash is refused when it is hashed, and with a false depth at once', () => {
    const bytes = merkleProof(tree).toBoc({ idx: false, crc32: false });
    const at = bytes.indexOf(tree.hash());
    const wrongHash = Buffer.from(bytes);
    wrongHash[at]! ^= 1;
    const boc = parseBoc(wrongHash);
    expect(() => boc.hash(boc.roots[0]!)).toThrow(expect.objectContaining({ code: 'hash_mismatch' }));
    const wrongDepth = Buffer.from(bytes);
    wrongDepth[at + 33]! ^= 1;
    expect(() => parseBoc(wrongDepth)).toThrow(expect.objectContaining({ code: 'hash_mismatch' }));
  });

  it('a root with pruned branches is refused unless allowed', () => {
    expect(() => parseBoc(over(pruned(1)).toBoc())).toThrow(expect.objectContaining({ code: 'bad_boc' }));
    expect(parseBoc(over(pruned(1)).toBoc(), { rootLevelMax: 1 }).levelMask(0)).toBe(1);
  });

  it('an exotic cell is no value: pruned branches are an incomplete proof, others an exotic cell', () => {
    const boc = parseBoc(over(pruned(1), library()).toBoc(), { rootLevelMax: 1 });
    const slice = new CellSlice(boc, 0);
    expect(() => slice.refSlice()).toThrow(expect.objectContaining({ code: 'pruned_branch' }));
    expect(() => slice.refSlice()).toThrow(expect.objectContaining({ code: 'exotic_cell' }));
  });
});
