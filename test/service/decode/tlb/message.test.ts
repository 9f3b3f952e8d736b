import { Address, beginCell, ExternalAddress as CoreExternal, loadMessage, storeMessage } from '@ton/core';
import type { Cell, Message as CoreMessage } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { readMessageAddress } from '#service/decode/tlb/message-address.ts';
import { openBody, readMessage, readOpcode } from '#service/decode/tlb/message.ts';
import { cellTree } from '../cells.ts';
import { coreMessage } from '../core-views.ts';
import { ourMessage } from '../our-views.ts';

const address = fc
  .tuple(fc.integer({ min: -128, max: 127 }), fc.uint8Array({ minLength: 32, maxLength: 32 }))
  .map(([workchain, id]) => new Address(workchain, Buffer.from(id)));
const external = fc
  .integer({ min: 1, max: 100 })
  .chain((bits) => fc.bigInt(0n, (1n << BigInt(bits)) - 1n).map((value) => new CoreExternal(value, bits)));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const coins = fc.bigInt(0n, (1n << 100n) - 1n);
const lt = fc.bigInt(0n, (1n << 64n) - 1n);
const utime = fc.integer({ min: 0, max: 0xffffffff });

const info = fc.oneof(
  fc.record({
    type: fc.constant('internal'),
    ihrDisabled: fc.boolean(),
    bounce: fc.boolean(),
    bounced: fc.boolean(),
    src: address,
    dest: address,
    value: fc.record({ coins }),
    ihrFee: coins,
    forwardFee: coins,
    createdLt: lt,
    createdAt: utime,
  }),
  fc.record({ type: fc.constant('external-in'), src: maybe(external), dest: address, importFee: coins }),
  fc.record({
    type: fc.constant('external-out'),
    src: address,
    dest: maybe(external),
    createdLt: lt,
    createdAt: utime,
  }),
);
const init = fc.record({
  splitDepth: maybe(fc.nat(31)),
  special: maybe(fc.record({ tick: fc.boolean(), tock: fc.boolean() })),
  code: maybe(cellTree),
  data: maybe(cellTree),
});
const message = fc.record({ info, init: maybe(init), body: cellTree }) as unknown as fc.Arbitrary<CoreMessage>;

function read(cell: Cell) {
  const boc = parseBoc(cell.toBoc());
  return { boc, message: readMessage(boc, boc.roots[0]!) };
}

describe('readMessage', () => {
  it('messages of @ton/core are read: all infos, both positions of the state and of the body', () => {
    fc.assert(
      fc.property(message, fc.boolean(), (value, forceRef) => {
        const cell = beginCell().store(storeMessage(value, { forceRef })).endCell();
        const { boc, message: ours } = read(cell);
        expect(ourMessage(boc, ours)).toEqual(coreMessage(loadMessage(cell.beginParse())));
        const body = openBody(boc, ours.body);
        expect([body.remainingBits, body.remainingRefs]).toEqual([value.body.bits.length, value.body.refs.length]);
        const opcode = value.body.bits.length < 32 ? undefined : value.body.beginParse().loadUint(32);
        expect(readOpcode(boc, ours.body)).toBe(opcode);
      }),
      { seed: 15, numRuns: 300 },
    );
  });

  it('a library as a body is not opened', () => {
    const library = beginCell().storeUint(2, 8).storeBuffer(Buffer.alloc(32, 5)).endCell({ exotic: true });
    const cell = beginCell()
      .storeUint(0b10_00, 4)
      .storeAddress(new Address(0, Buffer.alloc(32)))
      .storeCoins(0)
      .storeBit(false)
      .storeBit(true)
      .storeRef(library)
      .endCell();
    const { boc, message: ours } = read(cell);
    expect(ours.info.kind).toBe('externalIn');
    expect(readOpcode(boc, ours.body)).toBeUndefined();
    expect(() => openBody(boc, ours.body)).toThrow(expect.objectContaining({ code: 'exotic_cell' }));
    expect(ourMessage(boc, ours).body).toBe(library.hash().toString('hex'));
  });

  it('an outside address in the place of an account is refused', () => {
    const cell = beginCell().storeUint(0b10_00, 4).storeUint(0b01, 2).storeUint(8, 9).storeUint(1, 8).endCell();
    expect(() => read(cell)).toThrow(expect.objectContaining({ code: 'bad_tag' }));
  });
});

function readAddressOf(bits: string) {
  const builder = beginCell();
  for (const bit of bits) builder.storeBit(bit === '1');
  const boc = parseBoc(builder.endCell().toBoc());
  const slice = new CellSlice(boc, boc.roots[0]!);
  return { value: readMessageAddress(slice), rest: slice.remainingBits };
}

describe('readMessageAddress', () => {
  const ones = '1'.repeat(256);
  it.each([
    ['none', '00', undefined],
    ['outside, of no bits', '01000000000', { kind: 'external', bits: Buffer.alloc(0), bitLength: 0 }],
    ['outside, of 3 bits', '01000000011101', { kind: 'external', bits: Buffer.from([0xa0]), bitLength: 3 }],
    [
      'standard',
      `10011111111${ones}`,
      {
        kind: 'internal',
        workchain: -1,
        id: Buffer.alloc(32, 0xff),
        bitLength: 256,
        anycast: undefined,
        variable: false,
      },
    ],
    [
      'standard with a rewritten prefix',
      `101000101000000001${ones}`,
      {
        kind: 'internal',
        workchain: 1,
        id: Buffer.alloc(32, 0xff),
        bitLength: 256,
        anycast: { depth: 2, prefix: Buffer.from([0x80]) },
        variable: false,
      },
    ],
    [
      'variable, of 5 bits',
      `110000000101${'1'.repeat(32)}10110`,
      { kind: 'internal', workchain: -1, id: Buffer.from([0xb0]), bitLength: 5, anycast: undefined, variable: true },
    ],
  ])('an address is read: %s', (_, bits, value) => {
    expect(readAddressOf(bits)).toEqual({ value, rest: 0 });
  });

  it.each([
    ['no prefix', '10100000', 'bad_value'],
    ['31 bits of prefix', `10111111${ones}`, 'bad_value'],
    ['half an id', `10000000000${'1'.repeat(128)}`, 'cell_underflow'],
  ])('an address with %s is refused', (_, bits, code) => {
    expect(() => readAddressOf(bits)).toThrow(expect.objectContaining({ code }));
  });
});
