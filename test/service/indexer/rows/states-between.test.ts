import { Address, beginCell, Cell, external, storeMessage } from '@ton/core';
import type { Message } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { statesBetween } from '#service/indexer/rows/states-between.ts';

const account = Address.parseRaw(`0:${'ab'.repeat(32)}`);

function transfer(coins: bigint, ihrFee: bigint, forwardFee: bigint): Message {
  return {
    info: {
      type: 'internal',
      ihrDisabled: false,
      bounce: false,
      bounced: false,
      src: account,
      dest: account,
      value: { coins },
      ihrFee,
      forwardFee,
      createdLt: 1n,
      createdAt: 1,
    },
    body: Cell.EMPTY,
  };
}

/** Of a transaction what balances are told by: its fees, what it took and what it sent. */
type Told = { readonly fees: bigint; readonly took: Message; readonly sent: readonly Message[] };

function tableOf(transactions: readonly Told[]) {
  const cells = transactions.map(({ fees, took, sent }) => {
    const messages = [took, ...sent].map((message) => beginCell().store(storeMessage(message)).endCell());
    // Tag, account, lt, hash and lt before, utime, count and statuses, none of which is asked for.
    const builder = beginCell().storeUint(0, 695).storeRef(Cell.EMPTY).storeCoins(fees).storeBit(false);
    return { messages, cell: builder.endCell() };
  });
  const holders = cells.map(({ messages, cell }) =>
    [cell, ...messages].reduce((builder, one) => builder.storeRef(one), beginCell()).endCell(),
  );
  const root = holders.reduce((builder, one) => builder.storeRef(one), beginCell()).endCell();
  const table = parseBoc(root.toBoc());
  return {
    table,
    found: transactions.map(({ sent }, index) => {
      const holder = table.ref(table.roots[0]!, index);
      const outMessages = sent.map((_, place) => table.ref(holder, 2 + place));
      return { cell: table.ref(holder, 0), inMessage: table.ref(holder, 1), outMessages };
    }),
  };
}

const told: readonly Told[] = [
  { fees: 3n, took: transfer(50n, 7n, 1000n), sent: [transfer(30n, 5n, 2n), transfer(1n, 0n, 4n)] },
  { fees: 11n, took: external({ to: account }), sent: [transfer(20n, 13n, 6n)] },
];

const grams = (value: bigint) => ({ grams: value, extra: undefined });

describe('the balance between two transactions of a block', () => {
  it('is told by values and fees of their messages', () => {
    const { table, found } = tableOf(told);
    const between = 1000n - 3n + (50n + 7n) - (30n + 5n + 2n) - (1n + 4n);
    const after = between - 11n - (20n + 13n + 6n);
    const old = { table, globalVersion: undefined };
    expect(statesBetween(old, found, { before: grams(1000n), after: grams(after) })).toEqual([
      { balance: between, extra_currencies: null },
    ]);
  });

  it('does not have the fee of hypercube routing where its place holds flags', () => {
    const { table, found } = tableOf(told);
    const between = 1000n - 3n + 50n - (30n + 2n) - (1n + 4n);
    const after = between - 11n - (20n + 6n);
    const newer = { table, globalVersion: 12 };
    expect(statesBetween(newer, found, { before: grams(1000n), after: grams(after) })).toEqual([
      { balance: between, extra_currencies: null },
    ]);
  });

  it('is not told when the account did not begin with what that leads to', () => {
    const { table, found } = tableOf(told);
    const old = { table, globalVersion: undefined };
    expect(statesBetween(old, found, { before: grams(1000n), after: grams(1n) })).toEqual([]);
  });
});
