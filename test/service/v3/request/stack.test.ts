import { Cell, beginCell } from '@ton/core';
import { describe, expect, test } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import type { StackEntry } from '#service/tvm/stack.ts';
import { stackArguments, viewStack as viewInSteps } from '#service/v3/request/stack.ts';
import { exoticBags } from '#test/service/decode/exotic-cells.ts';
import { runSteps } from '#test/support/steps.ts';

const boc = beginCell().storeUint(0xabcd, 16).storeRef(beginCell().endCell()).endCell().toBoc();
const table = parseBoc(boc);
const cell = { table, cell: table.roots[0]! };
const window = { ...cell, startBit: 0, endBit: 16, startRef: 0, endRef: 1 };
const base64 = boc.toString('base64');

const viewStack = (stack: readonly StackEntry[]) => runSteps(viewInSteps(stack));
const read = (raw: unknown): readonly StackEntry[] => stackArguments.parse(raw, 'body');
const refused = (raw: unknown): unknown => {
  try {
    return read(raw);
  } catch (error) {
    return (error as Error).message;
  }
};

/** A list as `runGetMethodStd` takes it. */
const typedList = (elements: unknown[]) => ({ '@type': 'tvm.stackEntryList', list: { '@type': 'tvm.list', elements } });

/** A value in lists of one, so many. */
function nested(depth: number): StackEntry {
  let value: StackEntry = { type: 'int', value: 1n };
  for (let level = 0; level < depth; level++) value = { type: 'tuple', items: [value] };
  return value;
}

describe('arguments of a get-method', () => {
  test('are refused beyond 1,024 before any argument is read', () => {
    expect(refused(Array.from({ length: 1025 }, () => 'unread'))).toMatch('1025 arguments, at most 1024');
    expect(refused(Array.from({ length: 1024 }, () => 'read'))).not.toMatch('at most 1024');
  });

  test('are numbers in any spelling, cells and slices', () => {
    const numbers = ['0x12a', '-0x1', '298', '-5', 7].map((value) => ({ type: 'num', value }));
    expect(read(numbers).map((entry) => (entry.type === 'int' ? entry.value : undefined))).toEqual([
      298n,
      -1n,
      298n,
      -5n,
      7n,
    ]);
    const [asCell, asSlice] = read([
      { type: 'cell', value: base64 },
      { type: 'slice', value: base64 },
    ]);
    expect(asCell).toMatchObject({ type: 'cell' });
    expect(asSlice).toMatchObject({ type: 'slice', startBit: 0, endBit: 16, startRef: 0, endRef: 1 });
  });

  test('are tuples, lists and null, in the form of answers and in that of runGetMethodStd', () => {
    const one = { type: 'int', value: 1n };
    const wanted = [
      { type: 'tuple', items: [one, { type: 'null' }] },
      { type: 'tuple', items: [one, { type: 'tuple', items: [one, { type: 'null' }] }] },
      { type: 'null' },
    ];
    const num = { type: 'num', value: '0x1' };
    expect(
      read([{ type: 'tuple', value: [num, { type: 'null' }] }, { type: 'list', value: [num, num] }, { type: 'null' }]),
    ).toEqual(wanted);
    const number = { '@type': 'tvm.stackEntryNumber', number: { '@type': 'tvm.numberDecimal', number: '1' } };
    const elements = [number, typedList([])];
    expect(
      read([
        { '@type': 'tvm.stackEntryTuple', tuple: { '@type': 'tvm.tuple', elements } },
        typedList([number, number]),
        typedList([]),
      ]),
    ).toEqual(wanted);
    expect(read(viewStack(wanted as StackEntry[]))).toEqual(wanted);
  });

  test.each([
    [{}, 'stack should be array'],
    [[1], 'stack entry should have a type and a value'],
    [[{ value: 1 }], 'stack entry should have a type and a value'],
    [[{ type: 'list', value: {} }], 'invalid list: an array of stack entries expected'],
    [[{ type: 'tuple' }], 'invalid tuple: an array of stack entries expected'],
    [[{ type: 'null', value: 0 }], 'invalid null: no value expected'],
    [[{ '@type': 'tvm.stackEntryX' }], 'unsupported stack parameter type: tvm.stackEntryX'],
    [[{ type: 'x'.repeat(1000), value: 1 }], `unsupported stack parameter type: ${'x'.repeat(64)}`],
    [[{ type: 'num', value: null }], 'Wrong type of number in stack entry'],
    [[{ type: 'num', value: `0x${'f'.repeat(65)}` }], `Invalid number: 0x${'f'.repeat(65)}`],
    [[{ type: 'cell', value: 'AAAA' }], 'invalid cell: base64 of a bag of cells expected'],
    [[{ type: 'slice' }], 'invalid slice: base64 of a bag of cells expected'],
  ])('%j are refused', (raw, message) => {
    expect(refused(raw)).toBe(message);
  });
});

test('all arguments of a call have at most 4,096 cells and 8,000 entries', () => {
  let line = beginCell().endCell();
  for (let at = 1; at < 1000; at++) line = beginCell().storeRef(line).endCell();
  const value = line.toBoc().toString('base64');
  const bags = Array.from({ length: 5 }, () => ({ type: 'cell', value }));
  expect(read(bags.slice(1))).toHaveLength(4);
  expect(refused(bags)).toBe('TVM stack size exceeds limit: all cells of stack together are more than 4096');
  const nulls = Array.from({ length: 7999 }, () => ({ type: 'null' }));
  expect(read([{ type: 'list', value: nulls }])).toHaveLength(1);
  expect(refused([{ type: 'list', value: [...nulls, {}] }])).toBe(
    'TVM stack size exceeds limit: the stack has more than 8000 entries',
  );
});

test.each(exoticBags)('an exotic cell of kind %s is an argument as a cell, not as a slice', (_kind, bag) => {
  const value = bag.toString('base64');
  expect(refused([{ type: 'slice', value }])).toBe('invalid slice: an ordinary cell expected');
  const [given] = read([{ type: 'cell', value }]);
  expect(viewStack([given!])).toEqual(viewStack(read(viewStack([given!]))));
});

test('the slice of a library cell in a result can be an argument, a pruned cell is refused', () => {
  const [library, proof] = exoticBags.map(([, bag]) => {
    const parsed = parseBoc(bag);
    return { table: parsed, cell: parsed.roots[0]! };
  });
  const shown = viewStack([{ type: 'slice', ...library!, startBit: 0, endBit: 264, startRef: 0, endRef: 0 }]);
  expect(read(shown)).toMatchObject([{ type: 'slice', endBit: 264 }]);
  const below = { table: proof!.table, cell: proof!.table.ref(proof!.cell, 0) };
  expect(() => viewStack([{ type: 'cell', ...below }])).toThrow(expect.objectContaining({ code: 'result_pruned' }));
});

describe('the result of a get-method', () => {
  test('shows every kind of value as a type and a value', () => {
    const one: StackEntry = { type: 'int', value: 1n };
    const list: StackEntry = { type: 'tuple', items: [one, { type: 'tuple', items: [one, { type: 'null' }] }] };
    const shown = viewStack([
      { type: 'int', value: -298n },
      { type: 'int', value: 0n },
      { type: 'nan' },
      { type: 'null' },
      { type: 'tuple', items: [] },
      { type: 'tuple', items: [one, one] },
      list,
    ]);
    const viewed = { type: 'num', value: '0x1' };
    expect(shown).toEqual([
      { type: 'num', value: '-0x12a' },
      { type: 'num', value: '0x0' },
      { type: 'num', value: 'NaN' },
      { type: 'list', value: [] },
      { type: 'tuple', value: [] },
      { type: 'tuple', value: [viewed, viewed] },
      { type: 'list', value: [viewed, viewed] },
    ]);
  });

  test('shows cells, slices, builders and continuations as bags of cells, slices as what is left of them', () => {
    const shown = viewStack([
      { type: 'cell', ...cell },
      { type: 'builder', ...cell },
      { type: 'slice', ...window, startBit: 8, startRef: 1 },
      { type: 'continuation', ...window },
    ]);
    expect(shown.map(({ type }) => type)).toEqual(['cell', 'cell', 'slice', 'cell']);
    const [whole, built, rest, continuation] = shown.map(({ value }) => Cell.fromBase64(String(value)));
    for (const same of [whole!, built!, continuation!]) expect(same.equals(Cell.fromBoc(boc)[0]!)).toBe(true);
    expect(rest!.equals(beginCell().storeUint(0xcd, 8).endCell())).toBe(true);
  });

  test('is refused when it is too deep or too big for an answer', () => {
    expect(viewStack([nested(254)])).toHaveLength(1);
    const tooDeep = expect.objectContaining({ code: 'result_too_deep' });
    expect(() => viewStack([nested(255)])).toThrow(tooDeep);
    const big = beginCell().storeBuffer(Buffer.alloc(120)).endCell();
    const bag = parseBoc(big.toBoc());
    const many: StackEntry[] = Array.from({ length: 40_000 }, () => ({
      type: 'cell',
      table: bag,
      cell: bag.roots[0]!,
    }));
    expect(() => viewStack(many)).toThrow(expect.objectContaining({ code: 'result_too_big' }));
  });
});
