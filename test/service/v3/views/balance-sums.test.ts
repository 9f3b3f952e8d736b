import type { Builder } from '@ton/core';
import { Address, beginCell, Dictionary } from '@ton/core';
import { expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { readMessage } from '#service/decode/tlb/message.ts';
import type { Transaction } from '#service/decode/tlb/transaction.ts';
import { hashKey } from '#service/store/hash-key.ts';
import { sumBalances } from '#service/v3/views/balance-sums.ts';

const [wallet, owner, jetton] = [1, 2, 3].map(
  (byte) => `0:${Buffer.alloc(32, byte).toString('hex').toUpperCase()}`,
) as [string, string, string];

const internalTransfer = beginCell().storeUint(0x178d4519, 32).storeUint(7, 64).storeCoins(50);
/** TEP-503: the body in a cell, then value, lt and time of the message, the phase, the exit code and the compute phase. */
const newerBounce = beginCell()
  .storeUint(0xfffffffe, 32)
  .storeRef(internalTransfer)
  .storeRef(beginCell().storeCoins(1).storeBit(false).storeUint(5, 64).storeUint(6, 32))
  .storeUint(1, 8)
  .storeInt(35, 32)
  .storeBit(false);
const olderBounce = beginCell().storeUint(0xffffffff, 32).storeBuilder(internalTransfer);

/** Jettons of the owner after the wallet took a message. */
function movedBy(body: Builder, bounced: boolean): bigint | undefined {
  const message = beginCell()
    .storeUint(bounced ? 0b0101 : 0b0110, 4)
    .storeAddress(Address.parse(jetton))
    .storeAddress(Address.parse(wallet))
    .storeCoins(1)
    .storeBit(false)
    .storeCoins(0)
    .storeCoins(0)
    .storeUint(1, 64)
    .storeUint(1, 32)
    .storeBit(false)
    .storeBit(true)
    .storeRef(body)
    .endCell();
  const table = parseBoc(message.toBoc());
  const transaction = {
    account: Buffer.alloc(32, 1),
    totalFees: { grams: 0n, extra: undefined },
    inMessage: readMessage(table, table.roots[0]!),
    outMessages: [],
    descr: { kind: 'ordinary', aborted: false },
  } as unknown as Transaction;
  const moved = [{ table, transaction, workchain: 0 }];
  const { jettons } = sumBalances(moved, new Set(), new Map([[wallet, { owner, jetton }]]));
  return jettons.get(owner)?.get(jetton);
}

it.each([
  ['the older form', olderBounce],
  ['the form of TEP-503', newerBounce],
])('jettons come back with a bounced message of %s, and with nothing that only looks like it', (_form, body) => {
  expect(movedBy(body, true)).toBe(50n);
  expect(movedBy(body, false)).toBeUndefined();
});

it('extra currencies go from the sender of a message to its taker', () => {
  const currencies = Dictionary.empty(Dictionary.Keys.Uint(32), Dictionary.Values.BigVarUint(5));
  currencies.set(100, 70n).set(4_000_000_000, 5n);
  const message = beginCell()
    .storeUint(0b0110, 4)
    .storeAddress(Address.parse(jetton))
    .storeAddress(Address.parse(wallet))
    .storeCoins(1)
    .storeDict(currencies)
    .storeCoins(0)
    .storeCoins(0)
    .storeUint(1, 64)
    .storeUint(1, 32)
    .storeUint(0, 2)
    .endCell();
  const table = parseBoc(message.toBoc());
  const transaction = {
    account: Buffer.alloc(32, 1),
    totalFees: { grams: 0n, extra: undefined },
    inMessage: readMessage(table, table.roots[0]!),
    outMessages: [],
    descr: { kind: 'ordinary', aborted: true },
  } as unknown as Transaction;
  const moved = [{ table, transaction, workchain: 0 }];
  const plus = new Map([
    [100, 70n],
    [4_000_000_000, 5n],
  ]);
  const minus = new Map([
    [100, -70n],
    [4_000_000_000, -5n],
  ]);
  const sent = new Set([hashKey(message.hash())]);
  expect(sumBalances(moved, sent, new Map()).extraCurrencies).toEqual(
    new Map([
      [wallet, plus],
      [jetton, minus],
    ]),
  );
  expect(sumBalances(moved, new Set(), new Map()).extraCurrencies).toEqual(new Map([[wallet, plus]]));
});

it('a bounced message that ends too soon moves no jettons', () => {
  expect(movedBy(beginCell().storeUint(0xfffffffe, 32), true)).toBeUndefined();
  expect(movedBy(beginCell().storeUint(0xffffffff, 32).storeUint(0x178d4519, 32), true)).toBeUndefined();
});
