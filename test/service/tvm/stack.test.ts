import { Cell, beginCell, parseTuple, serializeTuple } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import { decodeStack } from '#service/tvm/stack-reader.ts';
import { encodeStack, encodeStackInSteps } from '#service/tvm/stack-writer.ts';
import type { StackCell, StackEntry } from '#service/tvm/stack.ts';
import { STACK_ENTRIES_MAX, cellOfSlice, sliceEntry } from '#service/tvm/stack.ts';

const SEED = 20261121;

const INT_MAX = (1n << 256n) - 1n;
const INT_MIN = -(1n << 256n);

function cellFrom(cell: Cell): StackCell {
  const boc = parseBoc(cell.toBoc());
  return { table: boc, cell: boc.roots[0]! };
}

const cells: fc.Arbitrary<StackCell> = fc
  .tuple(fc.uint8Array({ maxLength: 120 }), fc.uint8Array({ maxLength: 20 }))
  .map(([data, below]) => {
    const child = beginCell().storeBuffer(Buffer.from(below)).endCell();
    return cellFrom(beginCell().storeBuffer(Buffer.from(data)).storeRef(child).endCell());
  });

const windows = fc
  .tuple(cells, fc.nat(), fc.nat(), fc.nat({ max: 1 }), fc.nat({ max: 1 }))
  .map(([{ table, cell }, one, other, oneRef, otherRef]) => {
    const bits = table.bitLength(cell);
    const ends = [one % (bits + 1), other % (bits + 1)].toSorted((a, b) => a - b);
    const refs = [oneRef, otherRef].toSorted((a, b) => a - b);
    return { table, cell, startBit: ends[0]!, endBit: ends[1]!, startRef: refs[0]!, endRef: refs[1]! };
  });

/** Any bits and references, which may follow `vm_stk_cont`. */
const continuations = cells.map(({ table, cell }) => ({
  table,
  cell,
  startBit: 0,
  endBit: table.bitLength(cell),
  startRef: 0,
  endRef: 1,
}));

const ints = fc.oneof(
  fc.bigInt({ min: INT_MIN, max: INT_MAX }),
  fc.constantFrom(INT_MIN, INT_MAX, 0n, -1n, (1n << 63n) - 1n, 1n << 63n, -(1n << 63n), -(1n << 63n) - 1n),
);

const { entry: entries } = fc.letrec<{ entry: StackEntry }>((tie) => ({
  entry: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    ints.map((value): StackEntry => ({ type: 'int', value })),
    fc.constant<StackEntry>({ type: 'null' }),
    fc.constant<StackEntry>({ type: 'nan' }),
    cells.map((cell): StackEntry => ({ type: 'cell', ...cell })),
    cells.map((cell): StackEntry => ({ type: 'builder', ...cell })),
    windows.map((window): StackEntry => ({ type: 'slice', ...window })),
    continuations.map((window): StackEntry => ({ type: 'continuation', ...window })),
    fc.array(tie('entry'), { maxLength: 5 }).map((items): StackEntry => ({ type: 'tuple', items })),
  ),
}));

/** Converts an entry to plain comparable values: cells by hash, windows by content. */
function plain(entry: StackEntry): unknown {
  switch (entry.type) {
    case 'tuple':
      return [entry.type, entry.items.map(plain)];
    case 'int':
      return [entry.type, entry.value];
    case 'cell':
    case 'builder':
      return [entry.type, entry.table.hash(entry.cell).toString('hex')];
    case 'slice':
      return [entry.type, plain({ type: 'cell', ...cellOfSlice(entry) }), entry.startBit, entry.endBit];
    case 'continuation':
      return [entry.type, plain({ type: 'cell', ...cellOfSlice(entry) })];
    default:
      return [entry.type];
  }
}

describe('a stack', () => {
  it('a stack is read as it was written', () => {
    fc.assert(
      fc.property(fc.array(entries, { maxLength: 12 }), (stack) => {
        expect(decodeStack(encodeStack(stack)).map(plain)).toEqual(stack.map(plain));
      }),
      { seed: SEED, numRuns: 150 },
    );
  });

  it('a stack is written as @ton/core writes it, if it can', () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: INT_MIN, max: INT_MAX }), { maxLength: 8 }),
        fc.uint8Array({ maxLength: 100 }),
        (numbers, data) => {
          const cell = beginCell().storeBuffer(Buffer.from(data)).endCell();
          const ours: StackEntry[] = [
            ...numbers.map((value): StackEntry => ({ type: 'int', value })),
            { type: 'cell', ...cellFrom(cell) },
            sliceEntry(cellFrom(cell)),
            {
              type: 'tuple',
              items: [{ type: 'null' }, ...numbers.map((value): StackEntry => ({ type: 'int', value }))],
            },
          ];
          const theirs = serializeTuple([
            ...numbers.map((value) => ({ type: 'int' as const, value })),
            { type: 'cell', cell },
            { type: 'slice', cell },
            { type: 'tuple', items: [{ type: 'null' }, ...numbers.map((value) => ({ type: 'int' as const, value }))] },
          ]);
          expect(Cell.fromBoc(encodeStack(ours))[0]!.hash().toString('hex')).toBe(theirs.hash().toString('hex'));
          expect(parseTuple(Cell.fromBoc(encodeStack(ours))[0]!)).toHaveLength(ours.length);
        },
      ),
      { seed: SEED, numRuns: 60 },
    );
  });

  it('a stack of many entries is written in a step an entry, so that other work comes in between', () => {
    const stack = [wide(31, 255)];
    const steps = encodeStackInSteps(stack);
    let [count, step] = [0, steps.next()];
    for (; step.done !== true; step = steps.next()) count++;
    expect(count).toBeGreaterThan(31 * 256);
    expect(step.value).toEqual(encodeStack(stack));
  });

  it('a slice of a part of a cell is cut out of the cell', () => {
    const cell = beginCell().storeUint(0b1011_0011, 8).storeRef(beginCell().storeUint(5, 4).endCell()).endCell();
    const cut = cellOfSlice({ ...cellFrom(cell), startBit: 2, endBit: 7, startRef: 1, endRef: 1 });
    expect(cut.table.hash(cut.cell)).toEqual(beginCell().storeUint(0b11001, 5).endCell().hash());
  });

  it.each([
    ['a list of 1,000 elements', 1000],
    ['a list of one', 1],
  ])('a stack may be %s', (_, length) => {
    const list = listOf(length);
    expect(decodeStack(encodeStack([list])).map(plain)).toEqual([plain(list)]);
  });

  it.each([
    ['as deep as a BoC cannot hold', [listOf(1100)], 'stack_too_deep'],
    [
      'of more entries than a BoC can hold',
      Array.from({ length: 1100 }, (): StackEntry => ({ type: 'null' })),
      'stack_too_deep',
    ],
    [
      'of more entries than the bound',
      Array.from({ length: STACK_ENTRIES_MAX + 1 }, (): StackEntry => ({ type: 'null' })),
      'stack_too_big',
    ],
    ['of many entries in tuples', [wide(40, 255)], 'stack_too_big'],
    ['with a tuple of 256', [wide(1, 256)], 'stack_invalid'],
    ['with a number above 257 bits', [{ type: 'int', value: INT_MAX + 1n }], 'stack_invalid'],
    ['with a number below 257 bits', [{ type: 'int', value: INT_MIN - 1n }], 'stack_invalid'],
  ] satisfies [string, StackEntry[], string][])('a stack %s is refused', (_, stack, code) => {
    expect(() => encodeStack(stack)).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    ['no BoC', Buffer.from('00ff', 'hex')],
    ['an unknown tag', beginCell().storeUint(1, 24).storeRef(Cell.EMPTY).storeUint(8, 8).endCell().toBoc()],
    [
      'a half of a number',
      beginCell().storeUint(1, 24).storeRef(Cell.EMPTY).storeUint(1, 8).storeUint(1, 32).endCell().toBoc(),
    ],
    [
      'a value with more behind it',
      beginCell().storeUint(1, 24).storeRef(Cell.EMPTY).storeUint(0, 9).endCell().toBoc(),
    ],
    ['fewer entries than it says', beginCell().storeUint(2, 24).storeRef(Cell.EMPTY).storeUint(0, 8).endCell().toBoc()],
    ['a slice outside its cell', badSlice(9, 8)],
    ['a slice longer than its cell', badSlice(0, 9)],
  ])('a stack read from %s is refused', (_, bytes) => {
    expect(() => decodeStack(bytes)).toThrow(expect.objectContaining({ code: 'stack_invalid' }));
  });

  it('a stack that spells more entries than the bound by shared cells is refused', () => {
    let tuple = beginCell().storeUint(7, 8).storeUint(0, 16).endCell();
    for (let level = 0; level < 40; level++) {
      tuple = beginCell().storeUint(7, 8).storeUint(2, 16).storeRef(tuple).storeRef(tuple).endCell();
    }
    const bomb = beginCell().storeUint(1, 24).storeRef(Cell.EMPTY).storeSlice(tuple.beginParse()).endCell();
    expect(() => decodeStack(bomb.toBoc())).toThrow(expect.objectContaining({ code: 'stack_too_big' }));
  });
});

function listOf(length: number): StackEntry {
  let list: StackEntry = { type: 'null' };
  for (let at = 0; at < length; at++) list = { type: 'tuple', items: [{ type: 'int', value: BigInt(at) }, list] };
  return list;
}

/** Returns a tuple of `tuples` tuples of `items` nulls. */
function wide(tuples: number, items: number): StackEntry {
  const inner: StackEntry = {
    type: 'tuple',
    items: Array.from({ length: items }, (): StackEntry => ({ type: 'null' })),
  };
  return { type: 'tuple', items: Array.from({ length: tuples }, () => inner) };
}

function badSlice(start: number, end: number): Buffer {
  const cell = beginCell().storeUint(1, 8).endCell();
  const window = beginCell().storeUint(1, 24).storeRef(Cell.EMPTY).storeUint(4, 8).storeRef(cell);
  return window.storeUint(start, 10).storeUint(end, 10).storeUint(0, 6).endCell().toBoc();
}
