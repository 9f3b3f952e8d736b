import { beginCell, Cell } from '@ton/core';
import {
  array,
  assert,
  bigInt,
  constant,
  constantFrom,
  integer,
  letrec,
  oneof,
  property,
  record,
  type Arbitrary,
} from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { cellOfSlice, sliceEntry, type StackEntry } from '#service/tvm/stack.ts';
import { encodeStack } from '#service/tvm/stack-writer.ts';
import { legacyStack, typedStack } from '#service/v2/stack-input.ts';
import { viewLegacyStack as legacyInSteps, viewTypedStack as typedInSteps } from '#service/v2/stack-output.ts';
import { viewStack as v3InSteps } from '#service/v3/request/stack.ts';
import { countSteps, runSteps } from '#test/support/steps.ts';
import { exoticCells } from '../decode/exotic-cells.ts';
import { legacyArgument } from './legacy-stack.ts';

const viewTypedStack = (stack: readonly StackEntry[]) => runSteps(typedInSteps(stack));
const viewLegacyStack = (stack: readonly StackEntry[]) => runSteps(legacyInSteps(stack));

const minInt = -(2n ** 256n);
const maxInt = 2n ** 256n - 1n;

function entryOf(cell: Cell): StackEntry {
  const table = parseBoc(cell.toBoc());
  return { type: 'cell', table, cell: table.roots[0]! };
}

function sliceOf(cell: Cell): StackEntry {
  const table = parseBoc(cell.toBoc());
  return sliceEntry({ table, cell: table.roots[0]! });
}

/** A tree of different cells, at least so many. */
function treeOf(count: number): Cell {
  let row = Array.from({ length: count }, (_, at) => beginCell().storeUint(at, 32).endCell());
  while (row.length > 1) {
    row = Array.from({ length: Math.ceil(row.length / 4) }, (_, at) => {
      const above = beginCell();
      for (const cell of row.slice(at * 4, at * 4 + 4)) above.storeRef(cell);
      return above.endCell();
    });
  }
  return row[0]!;
}

/** The same values whatever tables their cells are in: what the VM would be given. */
function bytesOf(stack: readonly StackEntry[]): string {
  return encodeStack(stack).toString('hex');
}

/** Trees in which a cell may stand below several. */
const cells = array(
  record({
    data: bigInt({ min: 0n, max: 2n ** 200n }),
    bits: integer({ min: 201, max: 1000 }),
    refs: integer({ min: 0, max: 4 }),
  }),
  { minLength: 1, maxLength: 6 },
).map((made) => {
  const done: Cell[] = [];
  for (const { data, bits, refs } of made) {
    const builder = beginCell().storeUint(data, bits);
    for (const below of done.slice(0, refs)) builder.storeRef(below);
    done.push(builder.endCell());
  }
  return done.at(-1)!;
});

const leaves: Arbitrary<StackEntry> = oneof(
  bigInt({ min: minInt, max: maxInt }).map((value): StackEntry => ({ type: 'int', value })),
  constantFrom<StackEntry>(
    { type: 'int', value: minInt },
    { type: 'int', value: maxInt },
    { type: 'int', value: 2n ** 63n },
    { type: 'int', value: -(2n ** 63n) - 1n },
  ),
  constant<StackEntry>({ type: 'null' }),
  cells.map(entryOf),
  cells.map((cell) => {
    const entry = entryOf(cell);
    return entry.type === 'cell' ? sliceEntry(entry) : entry;
  }),
);

const entries = letrec<{ entry: StackEntry }>((tie) => ({
  entry: oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaves,
    array(tie('entry'), { maxLength: 5 }).map((items): StackEntry => ({ type: 'tuple', items })),
    array(tie('entry'), { maxLength: 5 }).map((items) =>
      items.reduceRight<StackEntry>((tail, head) => ({ type: 'tuple', items: [head, tail] }), { type: 'null' }),
    ),
  ),
})).entry;

const stacks = array(entries, { maxLength: 6 });

/** What comes out of JSON as it came over HTTP. */
const overJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('a stack', () => {
  it('in the typed form is read back as it was written', () => {
    assert(
      property(stacks, (stack) => {
        expect(bytesOf(typedStack.parse(overJson(viewTypedStack(stack)), 'body'))).toBe(bytesOf(stack));
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  it('in the legacy form is read back, slices by their own name', () => {
    assert(
      property(stacks, (stack) => {
        expect(bytesOf(legacyStack.parse(overJson(stack.map(legacyArgument)), 'body'))).toBe(bytesOf(stack));
      }),
      { seed: 2, numRuns: 300 },
    );
  });

  it('in the legacy form is fed back as an answer shows it, with slices as cells', () => {
    assert(
      property(stacks, (stack) => {
        const asCells = stack.map((entry): StackEntry =>
          entry.type === 'slice' ? { type: 'cell', ...cellOfSlice(entry) } : entry,
        );
        expect(bytesOf(legacyStack.parse(overJson(viewLegacyStack(stack)), 'body'))).toBe(bytesOf(asCells));
      }),
      { seed: 3, numRuns: 300 },
    );
  });

  it.each([
    ['NaN', { type: 'nan' }],
    ['a builder', { ...entryOf(beginCell().endCell()), type: 'builder' }],
    [
      'a continuation',
      { ...sliceEntry(entryOf(beginCell().endCell()) as StackEntry & { type: 'cell' }), type: 'continuation' },
    ],
  ] as [string, StackEntry][])('%s is unsupported in an answer, wherever it stands', (_name, entry) => {
    const typed = { '@type': 'tvm.stackEntryUnsupported' };
    expect(viewTypedStack([entry])).toEqual([typed]);
    expect(viewLegacyStack([entry])).toEqual([['unsupported', '']]);
    expect(viewLegacyStack([{ type: 'tuple', items: [entry] }])).toEqual([
      ['tuple', { '@type': 'tvm.tuple', elements: [typed] }],
    ]);
  });

  it('shows null and a list, and a pair that ends with a number as a tuple', () => {
    const one: StackEntry = { type: 'int', value: 1n };
    expect(viewLegacyStack([{ type: 'null' }])).toEqual([['list', { '@type': 'tvm.list', elements: [] }]]);
    const number = { '@type': 'tvm.stackEntryNumber', number: { '@type': 'tvm.numberDecimal', number: '1' } };
    const list: StackEntry = { type: 'tuple', items: [one, { type: 'null' }] };
    expect(viewLegacyStack([list])).toEqual([['list', { '@type': 'tvm.list', elements: [number] }]]);
    const pair: StackEntry = { type: 'tuple', items: [one, one] };
    expect(viewLegacyStack([pair])).toEqual([['tuple', { '@type': 'tvm.tuple', elements: [number, number] }]]);
  });

  it.each([
    [0n, '0x0'],
    [31n, '0x1f'],
    [-31n, '-0x1f'],
    [minInt, `-0x1${'0'.repeat(64)}`],
    [maxInt, `0x${'f'.repeat(64)}`],
  ])('shows %d as %s in the legacy form', (value, shown) => {
    expect(viewLegacyStack([{ type: 'int', value }])).toEqual([['num', shown]]);
  });
});

/** A number in as many tuples. */
function nested(levels: number): StackEntry {
  let entry: StackEntry = { type: 'int', value: 1n };
  for (let level = 0; level < levels; level++) entry = { type: 'tuple', items: [entry, { type: 'nan' }, entry] };
  return entry;
}

function deep(levels: number): StackEntry {
  let entry: StackEntry = { type: 'int', value: 1n };
  for (let level = 0; level < levels; level++) entry = { type: 'tuple', items: [entry] };
  return entry;
}

const tooBig = (bound: string) =>
  expect.objectContaining({
    code: 'result_too_big',
    message: `TVM stack size exceeds limit: the result has more than ${bound}`,
  });

describe('a result', () => {
  it.each([
    ['legacy', viewLegacyStack, 99, 100],
    ['typed', viewTypedStack, 254, 256],
  ] as const)('in the %s form is told when it is nested too deep', (_form, view, deepest, limit) => {
    expect(() => view([deep(deepest)])).not.toThrow();
    expect(() => view([deep(deepest + 1)])).toThrow(
      expect.objectContaining({ code: 'result_too_deep', message: `Result stack depth >= ${limit}` }),
    );
  });

  it('of few cells cannot make an answer without end', () => {
    const leaf = beginCell().storeUint(1, 1000).endCell();
    let tree = leaf;
    for (let level = 0; level < 60; level++) tree = beginCell().storeRef(tree).storeRef(tree).endCell();
    expect(() => viewLegacyStack([entryOf(tree)])).toThrow(tooBig('16384 cells as objects'));
    // In the typed form it is one bag of 61 cells; bags of some kilobytes may be a few hundred.
    expect(viewTypedStack([entryOf(tree)])).toMatchObject([{ '@type': 'tvm.stackEntryCell' }]);
    let large = leaf;
    for (let level = 0; level < 100; level++) large = beginCell().storeUint(level, 1000).storeRef(large).endCell();
    const bags = Array.from({ length: 400 }, () => entryOf(large));
    expect(() => viewTypedStack(bags.slice(0, 200))).not.toThrow();
    expect(() => viewTypedStack(bags)).toThrow(tooBig('4194304 bytes of cells'));
  });

  it('of many cells is written in a step a cell, each cell once', () => {
    const large = entryOf(treeOf(2000));
    for (const view of [typedInSteps, legacyInSteps, v3InSteps]) {
      const once = countSteps(view([large]));
      expect(once).toBeGreaterThan(4000);
      const seven = countSteps(view(Array.from({ length: 7 }, () => large)));
      expect(seven).toBeLessThan(view === legacyInSteps ? once + 6 * 2100 : once + 10);
    }
  });

  it('beyond a bound is refused before it is written', () => {
    const [table, times] = [entryOf(treeOf(2000)), 400];
    const stack = Array.from({ length: times }, () => table);
    expect(() => viewTypedStack(stack)).toThrow(tooBig('4194304 bytes of cells'));
    // Only the cells of the first bag are counted, until they are too many.
    for (const view of [typedInSteps, v3InSteps]) expect(countSteps(view(stack))).toBeLessThan(2100);
    expect(countSteps(legacyInSteps(stack))).toBe(0);
  });

  it('with many slices of one cell shows the rest of each', () => {
    const { table, cell } = entryOf(treeOf(2000)) as StackEntry & { type: 'cell' };
    const slices = [0, 1, 2].map((startRef): StackEntry => {
      const endRef = table.refCount(cell);
      return { type: 'slice', table, cell, startBit: 0, endBit: 0, startRef, endRef };
    });
    const shown = viewTypedStack([{ type: 'cell', table, cell }, ...slices]);
    const roots = shown.map((one) => {
      if (one['@type'] === 'tvm.stackEntryCell') return Cell.fromBase64(one.cell.bytes);
      return one['@type'] === 'tvm.stackEntrySlice' ? Cell.fromBase64(one.slice.bytes) : Cell.EMPTY;
    });
    for (const [at, root] of roots.slice(1).entries())
      expect(root.refs.map((ref) => ref.hash())).toEqual(roots[0]!.refs.slice(at).map((ref) => ref.hash()));
  });

  it('with a slice of a library cell can be an argument', () => {
    const slice = sliceOf(exoticCells.library);
    const [typed] = viewTypedStack([slice]);
    const [legacy] = viewLegacyStack([slice]);
    const same = beginCell().storeSlice(exoticCells.library.beginParse(true)).endCell();
    const wanted = bytesOf([sliceOf(same)]);
    expect(bytesOf(typedStack.parse([typed], 'body'))).toBe(wanted);
    const [, value] = legacy as readonly ['cell', object];
    expect(bytesOf(legacyStack.parse([['slice', value]], 'body'))).toBe(wanted);
  });

  it.each(['merkleProof', 'merkleUpdate'] as const)('does not show a slice of a %s over pruned branches', (kind) => {
    const slice = sliceOf(exoticCells[kind]);
    expect(viewTypedStack([slice])).toEqual([{ '@type': 'tvm.stackEntryUnsupported' }]);
    expect(viewLegacyStack([slice])).toEqual([['unsupported', '']]);
  });

  it('with an exotic cell can be an argument in every form', () => {
    for (const cell of Object.values(exoticCells)) {
      const entry = entryOf(cell);
      expect(bytesOf(typedStack.parse(viewTypedStack([entry]), 'body'))).toBe(bytesOf([entry]));
      expect(bytesOf(legacyStack.parse(viewLegacyStack([entry]), 'body'))).toBe(bytesOf([entry]));
    }
  });

  it('does not show a cell with pruned branches without their Merkle proof', () => {
    const { table, cell } = entryOf(exoticCells.merkleProof) as StackEntry & { type: 'cell' };
    const below: StackEntry = { type: 'cell', table, cell: table.ref(cell, 0) };
    expect(viewTypedStack([below])).toEqual([{ '@type': 'tvm.stackEntryUnsupported' }]);
    expect(viewLegacyStack([below])).toEqual([['unsupported', '']]);
  });

  it('that refers to itself from many tuples is still bounded by its depth', () => {
    expect(() => viewTypedStack([nested(8)])).not.toThrow();
  });
});
