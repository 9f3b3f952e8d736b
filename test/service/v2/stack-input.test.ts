import { beginCell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { writeBoc } from '#service/decode/boc-writer.ts';
import { cellOfSlice, type StackEntry } from '#service/tvm/stack.ts';
import { legacyStack, typedStack } from '#service/v2/stack-input.ts';
import { exoticBags, exoticCells } from '../decode/exotic-cells.ts';

const minInt = -(2n ** 256n);
const maxInt = 2n ** 256n - 1n;

function bagOf(entry: StackEntry): string {
  if (entry.type !== 'cell' && entry.type !== 'builder') return '';
  return writeBoc(entry.table, [entry.cell], { crc32c: true }).toString('base64');
}

const number = (value: unknown) => ({
  '@type': 'tvm.stackEntryNumber',
  number: { '@type': 'tvm.numberDecimal', number: value },
});
const list = (...elements: unknown[]) => ({ '@type': 'tvm.stackEntryList', list: { '@type': 'tvm.list', elements } });

const empty = beginCell().endCell().toBoc().toString('base64');
const emptyCell = { data: { b64: '', len: 0 }, refs: [] };

describe('a stack of arguments', () => {
  it.each([legacyStack, typedStack])(
    'is refused with more than 1,024 arguments before any argument is read',
    (stack) => {
      expect(() =>
        stack.parse(
          Array.from({ length: 1025 }, () => 'unread'),
          'body',
        ),
      ).toThrow('TVM stack size exceeds limit: 1025 arguments, at most 1024 are possible');
      expect(() =>
        stack.parse(
          Array.from({ length: 1024 }, () => 'read'),
          'body',
        ),
      ).not.toThrow('exceeds limit');
    },
  );
});

/** A bag of so many different cells: a line of which each cell has the next. */
function bagOfCells(cells: number, seed: number): string {
  let cell = beginCell().storeUint(seed, 32).endCell();
  for (let at = 1; at < cells; at++) cell = beginCell().storeRef(cell).endCell();
  return cell.toBoc().toString('base64');
}

const bags = (seeds: number) => Array.from({ length: seeds }, (_, seed) => bagOfCells(1000, seed));
const typedCell = (bytes: string) => ({ '@type': 'tvm.stackEntryCell', cell: { '@type': 'tvm.cell', bytes } });
const objectOfCells = (cells: number): object =>
  cells === 1 ? emptyCell : { ...emptyCell, refs: [objectOfCells(cells - 1)] };

describe('all arguments of a call together', () => {
  const message = 'TVM stack size exceeds limit: all cells of stack together are more than 4096';
  const refusal = expect.objectContaining({ code: 'invalid_parameter', message, data: { parameter: 'stack' } });

  it.each([
    [
      'bags of cells',
      (seeds: number) =>
        legacyStack.parse(
          bags(seeds).map((bag) => ['tvm.Cell', bag]),
          'body',
        ),
    ],
    [
      'cells as objects',
      (seeds: number) =>
        legacyStack.parse(
          Array.from({ length: seeds }, () => ['cell', objectOfCells(1000)]),
          'body',
        ),
    ],
    ['typed bags in a list', (seeds: number) => typedStack.parse([list(...bags(seeds).map(typedCell))], 'body')],
  ])('have at most 4,096 cells: %s', (_name, parse) => {
    expect(() => parse(4)).not.toThrow();
    expect(() => parse(5)).toThrow(refusal);
  });

  it.each([legacyStack, typedStack])('have at most 8,000 entries, those of lists counted', (stack) => {
    const longest = Array.from({ length: 7999 }, () => number(1));
    const parse = (elements: readonly unknown[]) =>
      stack.parse([stack === typedStack ? list(...elements) : ['list', { '@type': 'tvm.list', elements }]], 'body');
    expect(() => parse(longest)).not.toThrow();
    expect(() => parse([...longest, 'unread'])).toThrow(
      'TVM stack size exceeds limit: the stack has more than 8000 entries',
    );
  });
});

describe('an argument in the legacy form', () => {
  it.each([
    [['num', 5], 5n],
    [['int', '5'], 5n],
    [['number', '-0x1F'], -31n],
    [['integer', 2n ** 64n], 2n ** 64n],
    [['num', '0X10'], 16n],
    [['num', maxInt.toString()], maxInt],
    [['num', minInt], minInt],
  ] as const)('%o is a number', (raw, value) => {
    expect(legacyStack.parse([raw], 'body')).toEqual([{ type: 'int', value }]);
  });

  it.each([
    ['cell', empty],
    ['cell', { bytes: empty }],
    ['cell', { bytes: empty, object: emptyCell }],
    ['cell', emptyCell],
    ['tvm.Cell', empty],
    ['slice', emptyCell],
    ['tvm.Slice', empty],
    ['builder', { bytes: empty }],
    ['tvm.Builder', empty],
  ] as const)('of type %s is %o', (tag, value) => {
    const [entry] = legacyStack.parse([[tag, value]], 'body');
    expect(entry?.type).toBe(tag.replace('tvm.', '').toLowerCase());
    const cell: StackEntry = entry?.type === 'slice' ? { type: 'cell', ...cellOfSlice(entry) } : entry!;
    expect(bagOf(cell)).toBe(empty);
  });

  it('as nested objects keeps bits, references and the exotic kind', () => {
    const library = Buffer.concat([Buffer.from([2]), Buffer.alloc(32, 7)]).toString('base64');
    const value = {
      data: { b64: Buffer.from([0b1010_0000]).toString('base64'), len: 3 },
      refs: [{ data: { b64: library, len: 264 }, refs: [], special: true }],
      special: false,
    };
    const [entry] = legacyStack.parse([['cell', value]], 'body');
    expect(entry?.type).toBe('cell');
    const { table, cell } = entry as StackEntry & { type: 'cell' };
    expect([table.bitLength(cell), table.refCount(cell), table.kind(table.ref(cell, 0))]).toEqual([3, 1, 'library']);
  });

  it.each([0, 5, 255])('as nested objects is refused as a special cell of type %i', (type) => {
    const data = { b64: Buffer.from([type]).toString('base64'), len: 8 };
    expect(() => legacyStack.parse([['cell', { data, refs: [], special: true }]], 'body')).toThrow(
      'Invalid cell, object with field bytes expected',
    );
  });

  it.each([[['null']], [['null', null]]])('%o is null', (raw) => {
    expect(legacyStack.parse([raw], 'body')).toEqual([{ type: 'null' }]);
  });

  it('as nested objects is refused when it has pruned branches without their Merkle proof', () => {
    const pruned = Buffer.concat([Buffer.from([1, 1]), Buffer.alloc(34, 7)]).toString('base64');
    const branch = { data: { b64: pruned, len: 288 }, refs: [], special: true };
    for (const value of [branch, { data: { b64: '', len: 0 }, refs: [branch] }]) {
      expect(() => legacyStack.parse([['cell', value]], 'body')).toThrow(
        'Invalid cell, object with field bytes expected',
      );
    }
  });

  it('is refused as a slice or builder of an exotic cell, in each spelling', () => {
    for (const [, bag] of exoticBags) {
      const bytes = bag.toString('base64');
      for (const tag of ['slice', 'builder', 'tvm.Slice', 'tvm.Builder']) {
        const message = `Invalid ${tag}, an ordinary cell expected`;
        const error = expect.objectContaining({ code: 'invalid_parameter', message });
        expect(() => legacyStack.parse([[tag, bytes]], 'body')).toThrow(error);
      }
    }
    const library = Buffer.concat([Buffer.from([2]), Buffer.alloc(32, 7)]).toString('base64');
    const value = { data: { b64: library, len: 264 }, refs: [], special: true };
    expect(() => legacyStack.parse([['slice', value]], 'body')).toThrow('Invalid slice, an ordinary cell expected');
  });

  it('is refused when a Merkle cell in its bag does not fit the cells below it', () => {
    const bag = Buffer.from(exoticCells.merkleProof.toBoc({ crc32: false }));
    bag[bag.indexOf(exoticCells.merkleProof.bits.subbuffer(8, 256)!)]! ^= 1;
    const message = 'Invalid tvm.Cell, base64 of a bag of cells expected';
    expect(() => legacyStack.parse([['tvm.Cell', bag.toString('base64')]], 'body')).toThrow(message);
  });

  const badBoc = Buffer.from('no bag of cells').toString('base64');
  it.each([
    ['x', 'Stack should be array'],
    [{}, 'Stack should be array'],
    [[5], 'Stack entry should be array'],
    [[[]], 'Expected 2 elements in stack entry, got: 0'],
    [[['num']], 'Expected 2 elements in stack entry, got: 1'],
    [[['num', 1, 2]], 'Expected 2 elements in stack entry, got: 3'],
    [[['null', 1]], 'Invalid null, no value expected'],
    [[[1, 2]], 'Expected string as first element in stack entry'],
    [[['num', 'abc']], 'Invalid number: abc'],
    [[['num', '']], 'Invalid number: '],
    [[['num', (maxInt + 1n).toString()]], `Invalid number: ${maxInt + 1n}`],
    [[['num', minInt - 1n]], `Invalid number: ${minInt - 1n}`],
    [[['num', '9'.repeat(300)]], `Invalid number: ${'9'.repeat(255)}`],
    [[['num', 1.5]], 'Wrong type of number in stack entry'],
    [[['num', 1e30]], 'Wrong type of number in stack entry'],
    [[['num', null]], 'Wrong type of number in stack entry'],
    [[['num', {}]], 'Wrong type of number in stack entry'],
    [[['tvm.Cell', '']], 'Empty tvm.Cell'],
    [[['tvm.Cell', 1]], 'Invalid tvm.Cell, base64 string expected'],
    [[['tvm.Slice', '']], 'Empty tvm.Slice'],
    [[['tvm.Slice', {}]], 'Invalid tvm.Slice, base64 string expected'],
    [[['cell', '']], 'Empty cell'],
    [[['cell', { bytes: '' }]], 'Empty cell'],
    [[['cell', 1]], 'Invalid cell, object with field bytes expected'],
    [[['cell', { nothing: 1 }]], 'Invalid cell, object with field bytes expected'],
    [[['cell', { data: { b64: '', len: 1024 }, refs: [] }]], 'Invalid cell, object with field bytes expected'],
    [[['cell', { data: { b64: '', len: 8 }, refs: [] }]], 'Invalid cell, object with field bytes expected'],
    [[['cell', { data: { b64: '%', len: 0 }, refs: [] }]], 'Invalid cell, object with field bytes expected'],
    [[['cell', { data: { b64: '', len: 0 }, refs: [1] }]], 'Invalid cell, object with field bytes expected'],
    [[['slice', { bytes: 1 }]], 'Invalid slice, object with field bytes expected'],
    [[['tvm.Cell', '%%%']], 'Invalid tvm.Cell, base64 of a bag of cells expected'],
    [[['tvm.Cell', badBoc]], 'Invalid tvm.Cell, base64 of a bag of cells expected'],
    [[['tuple', []]], 'Invalid tvm.Tuple, valid tvm_stackEntryTuple expected'],
    [[['tvm.Tuple', { '@type': 'tvm.list', elements: [] }]], 'Invalid tvm.Tuple, valid tvm_stackEntryTuple expected'],
    [[['list', { elements: [] }]], 'Invalid tvm.List, valid tvm_stackEntryList expected'],
    [[['list', { '@type': 'tvm.list', elements: [1] }]], 'failed to parse stack: an entry has no @type'],
    [[['cont', '']], 'Unsupported stack entry type: cont'],
    [[['__proto__', '']], 'Unsupported stack entry type: __proto__'],
  ])('%o is refused', (raw, message) => {
    expect(() => legacyStack.parse(raw, 'body')).toThrow(expect.objectContaining({ message }));
  });
});

describe('an argument in the typed form', () => {
  it('takes decimal and hexadecimal numbers, at any depth', () => {
    const [entry] = typedStack.parse([list(number('-5'), list(number('0x10')))], 'body');
    const inner: StackEntry = { type: 'tuple', items: [{ type: 'int', value: 16n }, { type: 'null' }] };
    const rest: StackEntry = { type: 'tuple', items: [inner, { type: 'null' }] };
    expect(entry).toEqual({ type: 'tuple', items: [{ type: 'int', value: -5n }, rest] });
  });

  it.each([
    ['x', 'Stack should be array'],
    [[1], 'failed to parse stack: an entry has no @type'],
    [[['num', '1']], 'failed to parse stack: an entry has no @type'],
    [[{ number: {} }], 'failed to parse stack: an entry has no @type'],
    [[number('1e5')], 'Invalid number: 1e5'],
    [[number(undefined)], 'Wrong type of number in stack entry'],
    [[{ '@type': 'tvm.stackEntryNumber', number: '5' }], 'failed to parse stack: invalid tvm.numberDecimal'],
    [
      [{ '@type': 'tvm.stackEntryCell', cell: { '@type': 'tvm.cell', bytes: '%' } }],
      'failed to parse stack: invalid tvm.cell',
    ],
    [
      [{ '@type': 'tvm.stackEntryCell', cell: { '@type': 'tvm.slice', bytes: empty } }],
      'failed to parse stack: invalid tvm.cell',
    ],
    [[{ '@type': 'tvm.stackEntrySlice' }], 'failed to parse stack: invalid tvm.slice'],
    [[{ '@type': 'tvm.stackEntryTuple', tuple: {} }], 'failed to parse stack: invalid tvm.tuple'],
    [[{ '@type': 'tvm.stackEntryList' }], 'failed to parse stack: invalid tvm.list'],
    [[{ '@type': 'tvm.stackEntryUnsupported' }], 'Unsupported stack entry type: tvm.stackEntryUnsupported'],
  ])('%o is refused', (raw, message) => {
    expect(() => typedStack.parse(raw, 'body')).toThrow(expect.objectContaining({ message }));
  });
});
