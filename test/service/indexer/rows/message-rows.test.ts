import {
  Address,
  beginCell,
  Cell,
  external,
  internal,
  storeMessage,
  storeMessageRelaxed,
  storeStateInit,
} from '@ton/core';
import type { Builder } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { createPlainBocWriter } from '#service/decode/plain-boc.ts';
import { methodIds } from '#service/decode/method-ids.ts';
import { createCodeRows } from '#service/indexer/rows/code-rows.ts';
import { readMessageRow } from '#service/indexer/rows/message-rows.ts';
import { cellTree } from '#test/service/decode/cells.ts';
import { coreMessage, plainMessage } from './core-rows.ts';

const account = new Address(0, Buffer.alloc(32, 0xab));
const TAKEN_LT = 77n;

function rowOf(cell: Cell) {
  const table = parseBoc(cell.toBoc());
  const root = table.roots[0]!;
  return readMessageRow(table, root, table.hash(root), TAKEN_LT);
}

const head = (builder: Builder): Builder => builder.storeUint(0b0110, 4);
const tail = (builder: Builder): Builder =>
  builder.storeCoins(0).storeBit(false).storeCoins(0).storeCoins(0).storeUint(9n, 64).storeUint(8, 32).storeUint(0, 2);
const std = (builder: Builder): Builder => builder.storeAddress(account);
const anycast = (builder: Builder): Builder =>
  builder.storeUint(0b101, 3).storeUint(5, 5).storeUint(0b11111, 5).storeInt(-1, 8).storeBuffer(Buffer.alloc(32, 0x22));
const variable = (builder: Builder): Builder =>
  builder.storeUint(0b110, 3).storeUint(16, 9).storeInt(5, 32).storeUint(0xffff, 16);
const none = (builder: Builder): Builder => builder.storeUint(0, 2);

describe('the row of a message', () => {
  it('the row of a message equals what @ton/core reads, with body and init inside or in own cells', () => {
    const message = fc.record({
      isExternal: fc.boolean(),
      body: cellTree,
      init: fc.option(fc.record({ code: cellTree, data: cellTree }), { nil: null }),
      forceRef: fc.boolean(),
    });
    fc.assert(
      fc.property(message, ({ isExternal, body, init, forceRef }) => {
        const made = isExternal
          ? beginCell().store(storeMessage(external({ to: account, init, body }), { forceRef }))
          : beginCell().store(storeMessageRelaxed(internal({ to: account, value: 5n, init, body }), { forceRef }));
        const cell = made.endCell();
        const { row, code } = rowOf(cell);
        expect(code !== undefined).toBe(init !== null);
        // @ton/core does not read the source that a contract leaves out.
        const expected = isExternal
          ? coreMessage(cell, TAKEN_LT)
          : { source: null, body_hash: body.hash().toString('hex') };
        expect(plainMessage(row)).toMatchObject(expected);
      }),
      { seed: 4, numRuns: 300 },
    );
  });

  it.each([
    ['a plain account', std, `80${'ab'.repeat(32)}`],
    ['an account behind an anycast prefix, which is rewritten', anycast, `7ffa${'22'.repeat(31)}`],
    ['an address of variable length', variable, null],
    ['no address', none, null],
  ])('has in the column of accounts %s', (_, address, expected) => {
    const builder = head(beginCell());
    tail(std(address(builder)));
    const { row } = rowOf(builder.endCell());
    expect(row.source && Buffer.from(row.source).toString('hex')).toBe(expected);
    expect(row).toMatchObject({ kind: 1, created_lt: 9n, lt: 9n, created_at: 8, opcode: null, hash_norm: null });
  });

  it('has a normalised hash that no sender can change', () => {
    const body = beginCell().storeUint(0x12345678, 32).endCell();
    const plain = beginCell()
      .store(storeMessage(external({ to: account, body }), { forceRef: true }))
      .endCell();
    const inline = beginCell()
      .store(storeMessage(external({ to: account, body })))
      .endCell();
    const paid = beginCell()
      .store(storeMessage({ info: { type: 'external-in', dest: account, importFee: 55n }, init: null, body }))
      .endCell();
    expect(rowOf(plain).row.hash_norm).toBeNull();
    for (const cell of [inline, paid]) {
      expect(rowOf(cell).normalizedHash).toEqual(plain.hash());
      expect(rowOf(cell).row.hash_norm).toEqual(plain.hash());
    }
  });

  it('has no operation when the body is the cell of a public library', () => {
    const library = beginCell().storeUint(2, 8).storeBuffer(Buffer.alloc(32, 7)).endCell({ exotic: true });
    const builder = tail(std(none(head(beginCell()))));
    const message = beginCell()
      .storeBits(builder.endCell().bits.substring(0, builder.bits - 1))
      .storeBit(true)
      .storeRef(library)
      .endCell();
    const { row } = rowOf(message);
    expect(row.opcode).toBeNull();
    expect(Buffer.from(row.body_hash)).toEqual(library.hash());
  });
});

/** A key's other 18 bits, behind a label hml_long$10. */
function methodLeaf(id: number): Cell {
  return beginCell()
    .storeUint(0b10, 2)
    .storeUint(18, 5)
    .storeUint(id & 0x3ffff, 18)
    .endCell();
}

/** `SETCP0`, `DICTPUSHCONST` of a dictionary with these two keys, one on each side. */
function codeWithMethods(ids: readonly number[]): Cell {
  const dictionary = beginCell();
  const [left, right] = [ids.filter((id) => id < 0x40000), ids.filter((id) => id >= 0x40000)];
  dictionary.storeUint(0, 2).storeRef(methodLeaf(left[0]!)).storeRef(methodLeaf(right[0]!));
  return beginCell().storeUint(0xff00, 16).storeUint(0xf4a413, 24).storeRef(dictionary.endCell()).endCell();
}

function idsOf(cell: Cell): number[] | null {
  const table = parseBoc(cell.toBoc());
  return methodIds(table, table.roots[0]!);
}

describe('code', () => {
  it('has the ids of its method dictionary, unsigned', () => {
    expect(idsOf(codeWithMethods([85143, 524287]))).toEqual([85143, 524287]);
  });

  it.each([
    ['no dictionary', beginCell().storeUint(0xff00, 16).storeUint(0x88, 40).storeRef(Cell.EMPTY).endCell()],
    [
      'a dictionary that is none',
      beginCell().storeUint(0xff00, 16).storeUint(0xf4a413, 24).storeRef(Cell.EMPTY).endCell(),
    ],
    ['nothing', Cell.EMPTY],
    ['a public library', beginCell().storeUint(2, 8).storeBuffer(Buffer.alloc(32, 7)).endCell({ exotic: true })],
  ])('with %s has none', (_, cell) => {
    expect(idsOf(cell)).toBeNull();
  });

  it('stands once, however often it is met, and as a bag that @ton/core reads', () => {
    fc.assert(
      fc.property(fc.array(cellTree, { minLength: 1, maxLength: 4 }), (cells) => {
        const holder = cells.reduce((builder, cell) => builder.storeRef(cell), beginCell()).endCell();
        const table = parseBoc(beginCell().storeRef(holder).storeRef(holder).endCell().toBoc());
        const rows = createCodeRows();
        const block = { table, writeBoc: createPlainBocWriter(table) };
        for (let cell = 0; cell < table.size; cell++) for (let time = 0; time < 2; time++) rows.add(block, cell);
        const hashes = rows.rows.map(({ code_hash }) => Buffer.from(code_hash).toString('hex'));
        expect(new Set(hashes).size).toBe(hashes.length);
        expect(rows.rows.map(({ boc }) => Cell.fromBoc(Buffer.from(boc))[0]!.hash().toString('hex'))).toEqual(hashes);
        expect(hashes).toContain(holder.hash().toString('hex'));
      }),
      { seed: 6, numRuns: 200 },
    );
  });

  it('is found in the init of a message', () => {
    const code = codeWithMethods([1, 300000]);
    const init = { code, data: Cell.EMPTY };
    const message = beginCell()
      .store(storeMessage(external({ to: account, init })))
      .endCell();
    const table = parseBoc(message.toBoc());
    const { code: found } = readMessageRow(table, table.roots[0]!, message.hash(), 1n);
    expect(table.hash(found!)).toEqual(code.hash());
    expect(beginCell().store(storeStateInit(init)).endCell().refs[0]!.hash()).toEqual(code.hash());
  });
});
