import type { Cell } from '@ton/core';
import { Dictionary, beginCell } from '@ton/core';
import type { GetMethodRequest, TvmWorld } from '#service/tvm/tvm.ts';
import { writeCell } from './recorded-world.ts';

/** `workchain#a6`: always active, never splits, basic format. */
const basechain = beginCell()
  .storeUint(0xa6, 8)
  .storeUint(0, 32 + 8 + 8 + 8)
  .storeUint(0b111, 3)
  .storeUint(0, 13)
  .storeUint(0, 256)
  .storeUint(0, 256)
  .storeUint(0, 32)
  .storeUint(1, 4)
  .storeInt(-1, 32)
  .storeUint(0, 64)
  .endCell();

/** `msg_forward_prices#ea`: 400 nanotons for a bit, 40,000 for a cell, and a lump. */
function forwardPrices(lump: number): Cell {
  const prices = beginCell().storeUint(0xea, 8).storeUint(lump, 64).storeUint(26_214_400, 64);
  return prices
    .storeUint(2_621_440_000, 64)
    .storeUint(98_304, 32)
    .storeUint(21_845, 16)
    .storeUint(21_845, 16)
    .endCell();
}

/** Returns a configuration of version 13 with prices and a validator set of the given size, enough for the VM. */
export function smallConfig(validatorCells = 1): TvmWorld['config'] {
  const config = Dictionary.empty(Dictionary.Keys.Int(32), Dictionary.Values.Cell());
  const version = beginCell().storeUint(0xc4, 8).storeUint(13, 32).storeUint(494, 64).endCell();
  const gas = beginCell().storeUint(0xd1, 8).storeUint(100, 64).storeUint(40_000, 64).storeUint(0xde, 8);
  for (const value of [26_214_400, 1_000_000, 1_000_000, 10_000, 10_000_000, 100_000_000, 1_000_000_000]) {
    gas.storeUint(value, 64);
  }
  const storage = Dictionary.empty(Dictionary.Keys.Uint(32), {
    serialize: (_: number, builder) =>
      builder
        .storeUint(0xcc, 8)
        .storeUint(0, 32)
        .storeUint(1, 64)
        .storeUint(500, 64)
        .storeUint(1000, 64)
        .storeUint(500_000, 64),
    parse: () => 0,
  });
  storage.set(0, 0);
  config.set(8, version);
  config.set(18, beginCell().storeDictDirect(storage).endCell());
  for (const param of [20, 21]) config.set(param, gas.endCell());
  config.set(24, forwardPrices(10_000_000));
  config.set(25, forwardPrices(400_000));
  const described = Dictionary.empty(Dictionary.Keys.Int(32), {
    serialize: (cell: Cell, builder) => builder.storeSlice(cell.beginParse()),
    parse: (slice) => slice.asCell(),
  });
  described.set(0, basechain);
  config.set(12, beginCell().storeDict(described).endCell());
  config.set(0, beginCell().storeUint(0, 256).endCell());
  config.set(31, beginCell().storeBit(false).endCell());
  let set = beginCell().storeUint(0x12, 8).endCell();
  for (let count = 1; count < validatorCells; count++) set = beginCell().storeUint(count, 1000).storeRef(set).endCell();
  config.set(34, set);
  const root = beginCell().storeDictDirect(config).endCell();
  return { hash: root.hash(), boc: root.toBoc() };
}

const config = smallConfig();

/** Returns a call of code written by hand, in hex. */
export function callOf(codeHex: string, rest: Partial<GetMethodRequest> = {}): GetMethodRequest {
  return {
    code: writeCell(Buffer.from(codeHex, 'hex')),
    data: null,
    address: { workchain: 0, id: Buffer.alloc(32, 7) },
    balance: 1_000_000_000n,
    utime: 1_800_000_000,
    randSeed: Buffer.alloc(32),
    methodId: 0,
    stack: [],
    config,
    ...rest,
  };
}

/** Code that never ends: `PUSHCONT { NOP } AGAIN`. */
export const ENDLESS = '9100ea';
/** Gas that lets the code run far beyond any wall limit. */
export const ENDLESS_GAS = 1_000_000_000;
