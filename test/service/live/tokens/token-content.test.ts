import { createHash } from 'node:crypto';

import { Dictionary, beginCell, type Builder, type Cell } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { readStoredContent, readTokenContent, type TokenContent } from '#service/live/tokens/token-content.ts';

function read(cell: Cell): TokenContent {
  const table = parseBoc(cell.toBoc());
  return readTokenContent({ table, cell: table.roots[0]! });
}

/** What an on-chain content shows, in its order. */
function shown(cell: Cell): [string, string][] {
  const content = read(cell);
  return content.kind === 'onchain' ? [...content.attributes] : [['not', content.kind]];
}

/** Bytes over as many cells as they need, `first` of them in this one. */
function snake(bytes: Buffer, start: Builder = beginCell(), first = Math.floor(start.availableBits / 8)): Builder {
  start.storeBuffer(bytes.subarray(0, first));
  return bytes.length <= first ? start : start.storeRef(snake(bytes.subarray(first)).endCell());
}

const snakeValue = (text: string | Buffer): Cell => snake(Buffer.from(text), beginCell().storeUint(0, 8)).endCell();

function chunksValue(chunks: readonly Buffer[], from = 0): Cell {
  const dictionary = Dictionary.empty(Dictionary.Keys.Uint(32), Dictionary.Values.Cell());
  chunks.forEach((chunk, index) => dictionary.set(from + index, snake(chunk).endCell()));
  return beginCell().storeUint(1, 8).storeDict(dictionary).endCell();
}

const keyOf = (name: string): Buffer => createHash('sha256').update(name).digest();

/** On-chain content of values in references, and of values in place. */
function onchain(values: Record<string, Cell>, inPlace: Record<string, Cell> = {}): Cell {
  const dictionary = Dictionary.empty<Buffer, Builder>(Dictionary.Keys.Buffer(32), {
    serialize: (value, builder) => builder.storeBuilder(value),
    parse: () => beginCell(),
  });
  for (const [name, value] of Object.entries(values)) dictionary.set(keyOf(name), beginCell().storeRef(value));
  for (const [name, value] of Object.entries(inPlace)) dictionary.set(keyOf(name), value.asBuilder());
  return beginCell().storeUint(0, 8).storeDict(dictionary).endCell();
}

const offchain = (uri: string | Buffer): Cell => snake(Buffer.from(uri), beginCell().storeUint(1, 8)).endCell();

describe('off-chain content', () => {
  it('is an address over any number of cells', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 700 }), fc.integer({ min: 0, max: 100 }), (uri, first) => {
        const cell = snake(Buffer.from(uri), beginCell().storeUint(1, 8), first).endCell();
        expect(read(cell)).toEqual({ kind: 'offchain', uri });
      }),
      { seed: 1, numRuns: 100 },
    );
  });

  it.each([
    ['no UTF-8', snake(Buffer.from([0xff, 0xfe]), beginCell().storeUint(1, 8)).endCell()],
    ['no whole bytes', beginCell().storeUint(1, 8).storeUint(1, 3).endCell()],
    ['too long', snake(Buffer.alloc(70_000, 0x61), beginCell().storeUint(1, 8)).endCell()],
    ['of no known form', beginCell().storeUint(7, 8).endCell()],
    ['empty', beginCell().endCell()],
    ['a library', beginCell().storeUint(2, 8).storeBuffer(Buffer.alloc(32)).endCell({ exotic: true })],
  ])('that is %s says nothing', (_name, cell) => {
    expect(read(cell)).toEqual({ kind: 'onchain', attributes: new Map() });
  });
});

describe('on-chain content', () => {
  it('has known attributes in alphabetical order, and others by the hash of their name', () => {
    const image = Buffer.from([0x89, 0x50, 0xff, 0x00]);
    const cell = onchain({
      symbol: snakeValue('RNJ'),
      uri: snakeValue('https://example.org/more.json'),
      name: snakeValue('Jetton ✓'),
      decimals: snakeValue('9'),
      image_data: snakeValue(image),
      color: snakeValue('blue'),
    });
    expect(shown(cell)).toEqual([
      ['decimals', '9'],
      ['image_data', image.toString('base64')],
      ['name', 'Jetton ✓'],
      ['symbol', 'RNJ'],
      ['uri', 'https://example.org/more.json'],
      [keyOf('color').toString('hex'), 'blue'],
    ]);
  });

  it('reads long values, in chunks and in place', () => {
    const long = 'ab'.repeat(3000);
    const bytes = Buffer.from(long);
    const chunks = [bytes.subarray(0, 1000), bytes.subarray(1000, 1001), bytes.subarray(1001)];
    const cell = onchain({ description: chunksValue(chunks), name: snakeValue(long) }, { symbol: snakeValue('IN') });
    expect(shown(cell)).toEqual([
      ['description', long],
      ['name', long],
      ['symbol', 'IN'],
    ]);
  });

  it('ends chunks at the first gap', () => {
    const [first, second] = [Buffer.from('one'), Buffer.from('two')];
    const gap = Dictionary.empty(Dictionary.Keys.Uint(32), Dictionary.Values.Cell());
    gap.set(0, snake(first).endCell());
    gap.set(2, snake(second).endCell());
    const cell = onchain({
      name: beginCell().storeUint(1, 8).storeDict(gap).endCell(),
      symbol: chunksValue([second], 1),
    });
    expect(shown(cell)).toEqual([
      ['name', 'one'],
      ['symbol', ''],
    ]);
  });

  it.each([
    ['not UTF-8', snakeValue(Buffer.from([0xff]))],
    ['not of whole bytes', beginCell().storeUint(0, 11).endCell()],
    ['of no known form', beginCell().storeUint(5, 8).endCell()],
    ['empty', beginCell().endCell()],
    ['longer than it may be', snakeValue(Buffer.alloc(70_000, 0x61))],
  ])('leaves out a value that is %s', (_name, value) => {
    expect(shown(onchain({ name: value, symbol: snakeValue('OK') }))).toEqual([['symbol', 'OK']]);
  });

  it('of few cells that spell megabytes is cut', () => {
    const large = snakeValue(Buffer.alloc(60_000, 0x61));
    const values = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`value ${index}`, large]));
    const bytes = shown(onchain(values)).reduce((sum, [, text]) => sum + text.length, 0);
    expect(bytes).toBeGreaterThan(500_000);
    expect(bytes).toBeLessThanOrEqual(1024 * 1024);
  });

  it('has at most 256 attributes', () => {
    const values = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`value ${index}`, snakeValue('x')]));
    expect(shown(onchain(values))).toHaveLength(256);
  });
});

function kept(cell: Cell): Readonly<Record<string, string>> | undefined {
  const table = parseBoc(cell.toBoc());
  return readStoredContent({ table, cell: table.roots[0]! });
}

describe('what indexers keep of a content', () => {
  it('is an address, or the nine known attributes', () => {
    expect(kept(offchain('https://example.org'))).toEqual({ uri: 'https://example.org' });
    const image = Buffer.from([0xff, 0x00]);
    const values = { name: snakeValue('A'), color: snakeValue('blue'), image_data: snakeValue(image) };
    expect(kept(onchain(values, { symbol: snakeValue('IN') }))).toEqual({
      name: 'A',
      symbol: 'IN',
      image_data: image.toString('base64'),
    });
    expect(kept(onchain({ color: snakeValue('blue') }))).toEqual({});
    expect(kept(beginCell().storeUint(0, 9).endCell())).toEqual({});
  });

  it('is found among any number of others', () => {
    const others = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`value ${index}`, snakeValue('x')]));
    expect(kept(onchain({ ...others, symbol: snakeValue('OK') }))).toEqual({ symbol: 'OK' });
  });

  it('has no zero bytes', () => {
    expect(kept(offchain('a\0b\0'))).toEqual({ uri: 'ab' });
    expect(kept(onchain({ name: snakeValue('\0c') }))).toEqual({ name: 'c' });
  });

  it('keeps a byte order mark at its start', () => {
    const content = onchain({ name: snakeValue('\ufeffUSDT') });
    expect([shown(content), kept(content)]).toEqual([[['name', '\ufeffUSDT']], { name: '\ufeffUSDT' }]);
    expect(read(offchain('\ufeffa'))).toEqual({ kind: 'offchain', uri: '\ufeffa' });
  });

  it('leaves out what is no UTF-8', () => {
    expect(kept(onchain({ name: snakeValue(Buffer.from([0xff])), symbol: snakeValue('S') }))).toEqual({ symbol: 'S' });
  });

  it('has of each value 8 KiB at most, up to the cell that goes beyond', () => {
    const long = Buffer.alloc(20_000, 0x61);
    const cells = 126 + 127 * Math.floor((8 * 1024 - 126) / 127);
    const chunks = [8000, 192, 1, 5].map((length) => long.subarray(0, length));
    const found = kept(onchain({ name: snakeValue(long), description: chunksValue(chunks), uri: chunksValue([long]) }));
    expect(found).toEqual({ name: 'a'.repeat(cells), description: 'a'.repeat(8 * 1024), uri: '' });
    expect(kept(offchain(long))!['uri']!.length).toBe(cells);
  });

  it.each([
    ['an address that is no UTF-8', offchain(Buffer.from([0xff]))],
    ['another form', beginCell().storeUint(7, 8).endCell()],
    ['an empty cell', beginCell().endCell()],
    ['half a dictionary', beginCell().storeUint(0, 8).storeBit(true).endCell()],
  ])('is none of %s', (_name, cell) => {
    expect(kept(cell)).toBeUndefined();
  });
});
