import { beginCell, type Builder } from '@ton/core';
import { describe, expect, test } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { walletTypes } from '#service/decode/known-codes.ts';
import {
  readValidUntil,
  walletDataLayouts,
  walletOrderLayouts,
  type WalletData,
  type WalletOrder,
} from '#service/decode/wallet-layouts.ts';

const validUntil = 1_790_000_000;

function sliceOf(builder: Builder): CellSlice {
  const table = parseBoc(builder.endCell().toBoc());
  return new CellSlice(table, table.roots[0]!);
}

/** Body as the wallets of the client library write it. */
const bodies: Readonly<Record<WalletOrder, () => Builder>> = {
  v1: () => beginCell().storeBuffer(Buffer.alloc(64)).storeUint(7, 32),
  v2: () => beginCell().storeBuffer(Buffer.alloc(64)).storeUint(7, 32).storeUint(validUntil, 32),
  v3: () => beginCell().storeBuffer(Buffer.alloc(64)).storeInt(-1, 32).storeUint(validUntil, 32).storeUint(7, 32),
  v4: () => beginCell().storeBuffer(Buffer.alloc(64)).storeInt(-1, 32).storeUint(validUntil, 32).storeUint(7, 32),
  v5: () => beginCell().storeUint(0x7369676e, 32).storeInt(-1, 32).storeUint(validUntil, 32).storeUint(7, 32),
};

describe('orders of wallets', () => {
  test.each(Object.keys(walletOrderLayouts) as WalletOrder[])(
    'the end of an order %s is read if it has one',
    (order) => {
      expect(readValidUntil(order, sliceOf(bodies[order]()))).toBe(order === 'v1' ? undefined : validUntil);
    },
  );

  test('an order v5 of another operation has no end', () => {
    const inner = beginCell().storeUint(0x73696e74, 32).storeInt(-1, 32).storeUint(validUntil, 32);
    expect(readValidUntil('v5', sliceOf(inner))).toBeUndefined();
  });

  test('an order that is cut before its end is an error of decoding', () => {
    expect(() => readValidUntil('v3', sliceOf(beginCell().storeBuffer(Buffer.alloc(64))))).toThrow(
      expect.objectContaining({ name: 'DecodeError', code: 'cell_underflow' }),
    );
  });
});

test('each layout of data has a known wallet and a schema of its own', () => {
  const layouts = Object.keys(walletDataLayouts) as WalletData[];
  expect(layouts.filter((data) => walletTypes(data).length === 0)).toEqual([]);
  expect(new Set(layouts.map((data) => walletDataLayouts[data].schema)).size).toBe(layouts.length);
});
