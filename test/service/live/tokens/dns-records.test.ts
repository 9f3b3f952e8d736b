import { Address, Dictionary, beginCell, type Builder, type Cell } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { ReadBudget } from '#service/decode/read-budget.ts';
import { decodeDomain, encodeDomain } from '#service/live/tokens/dns-names.ts';
import { readDnsRecord, readDnsRecords, showRecord, type DnsRecord } from '#service/live/tokens/dns-records.ts';

function read(cell: Cell): DnsRecord {
  const table = parseBoc(cell.toBoc());
  const found = { table, cell: table.roots[0]! };
  const budget = new ReadBudget();
  return showRecord({ cell: found, known: readDnsRecord(found, budget) }, budget);
}

const id = Buffer.alloc(32, 0xab);
const account = { workchain: -1, id };
const address = new Address(-1, id);

function text(chunks: readonly string[]): Builder {
  const write = (index: number): Builder => {
    const chunk = Buffer.from(chunks[index]!);
    const builder = beginCell().storeUint(chunk.length, 8).storeBuffer(chunk);
    return index === chunks.length - 1 ? builder : builder.storeRef(write(index + 1).endCell());
  };
  return beginCell()
    .storeUint(0x1eda, 16)
    .storeUint(chunks.length, 8)
    .storeBuilder(chunks.length === 0 ? beginCell() : write(0));
}

describe('a record', () => {
  it.each([
    ['a text', text(['he', 'llo ', '✓']), { kind: 'text', text: Buffer.from('hello ✓') }],
    ['an empty text', text([]), { kind: 'text', text: Buffer.alloc(0) }],
    [
      'a resolver',
      beginCell().storeUint(0xba93, 16).storeAddress(address),
      { kind: 'nextResolver', resolver: account },
    ],
    [
      'a contract',
      beginCell().storeUint(0x9fd3, 16).storeAddress(address).storeUint(0, 8),
      { kind: 'smcAddress', address: account },
    ],
    [
      'an ADNL address',
      beginCell().storeUint(0xad01, 16).storeBuffer(id).storeUint(0, 8),
      { kind: 'adnlAddress', address: id },
    ],
    ['a bag of files', beginCell().storeUint(0x7473, 16).storeBuffer(id), { kind: 'storageAddress', bagId: id }],
  ])('is %s', (_name, builder, expected) => {
    expect(read(builder.endCell())).toEqual(expected);
  });

  it.each([
    ['of another type', beginCell().storeUint(0x1234, 16)],
    ['that is cut', beginCell().storeUint(0xad01, 16).storeUint(1, 8)],
    ['that is empty', beginCell()],
    ['of nobody', beginCell().storeUint(0xba93, 16).storeAddress(null)],
    [
      'of an address with anycast',
      beginCell().storeUint(0x9fd3, 16).storeUint(0b101, 3).storeUint(1, 5).storeBit(1).storeInt(0, 8).storeBuffer(id),
    ],
    ['whose text lacks a chunk', beginCell().storeUint(0x1eda, 16).storeUint(2, 8).storeUint(0, 8)],
  ])('%s is unknown and shown as it is', (_name, builder) => {
    const cell = builder.endCell();
    const record = read(cell);
    expect(record.kind).toBe('unknown');
    const boc = record.kind === 'unknown' ? parseBoc(record.boc) : undefined;
    expect(boc?.hash(boc.roots[0]!)).toEqual(cell.hash());
  });
});

describe('a domain', () => {
  it('has its records in the order of categories, without values that are no reference', () => {
    const dictionary = Dictionary.empty<bigint, Builder>(Dictionary.Keys.BigUint(256), {
      serialize: (value, builder) => builder.storeBuilder(value),
      parse: () => beginCell(),
    });
    dictionary.set(5n, beginCell().storeRef(text(['five']).endCell()));
    dictionary.set(2n ** 255n, beginCell().storeRef(text(['high']).endCell()));
    dictionary.set(
      7n,
      beginCell()
        .storeUint(1, 8)
        .storeRef(text(['bits']).endCell()),
    );
    dictionary.set(1n, beginCell().storeUint(1, 8));
    const cell = beginCell().storeDictDirect(dictionary).endCell();
    const table = parseBoc(cell.toBoc());
    const records = readDnsRecords({ table, cell: table.roots[0]! }, new ReadBudget());
    expect(records.map(({ category, known }) => [category[0]! || category[31]!, known])).toEqual([
      [5, { kind: 'text', text: Buffer.from('five') }],
      [0x80, { kind: 'text', text: Buffer.from('high') }],
    ]);
  });
});

describe('a name', () => {
  it.each([
    ['', '\0'],
    ['.', '\0'],
    ['ton.', '\0ton\0'],
    ['ton', 'ton\0'],
    ['sub.example.ton.', '\0ton\0example\0sub\0'],
  ])('%j is asked for as %j', (name, encoded) => {
    expect(encodeDomain(name).toString()).toBe(encoded);
  });

  it('is told of each resolved part as it was written', () => {
    const label = fc.stringMatching(/^[a-z0-9-]{1,12}$/);
    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 6 }), fc.nat(5), (labels, count) => {
        const resolved = labels.slice(-(count % labels.length) - 1);
        const encoded = encodeDomain(`${labels.join('.')}.`);
        // A resolver knows whole labels, without the zero that would start the next one.
        const known = encoded.subarray(0, encodeDomain(`${resolved.join('.')}.`).length - 1);
        expect(decodeDomain(known)).toBe(`${resolved.join('.')}.`);
      }),
      { seed: 1, numRuns: 200 },
    );
  });
});
