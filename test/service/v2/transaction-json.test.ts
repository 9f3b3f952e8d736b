import { Address, beginCell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import type { LiveTransaction } from '#service/live/transactions/transactions.ts';
import { createTransactionWriter } from '#service/v2/transaction-json.ts';
import { extForm, plainForm, stdForm } from '#service/v2/transaction-views.ts';
import { largeCell } from '#test/support/many-cells.ts';
import { sending } from '#test/support/simulated-chain.ts';
import { turnsDuring } from '#test/support/turns.ts';

const { signal } = new AbortController();

/** Letters of a transaction that caches have as JSON. */
const SMALL_LETTERS = 65_536;

/** A transaction that sends a body so many times. */
function transactionOf(count: number, body = beginCell().storeUint(7, 32).endCell()): LiveTransaction {
  const to = new Address(0, Buffer.alloc(32, 0xb0));
  const table = parseBoc(sending(count, body, () => to));
  return { workchain: 0, table, transaction: readTransaction(table, table.roots[0]!) };
}

/** The most cells that a message may have. */
const largest = largeCell(2000);

describe.each([
  ['getTransactions', plainForm],
  ['getTransactionsStd', stdForm],
  ['getBlockTransactionsExt', extForm],
])('transactions of %s', (_operation, form) => {
  it.each([0, 1, 255])('a transaction that sends %i messages has each of them', async (count) => {
    const [written] = await createTransactionWriter<object>(form)([transactionOf(count)], signal);
    const { out_msgs: sent, ...head } = JSON.parse(written!.parts.join('')) as { out_msgs: { created_lt: string }[] };
    expect(sent.map(({ created_lt: lt }) => lt)).toEqual(Array.from({ length: count }, (_, at) => `${at + 2}`));
    expect(Object.keys(head)).toEqual(Object.keys(form.head(transactionOf(count))));
  });

  it('a usual transaction is written once for all answers', async () => {
    const write = createTransactionWriter<object>(form);
    const shown = transactionOf(3);
    const [[first], [again], [other]] = [
      await write([shown], signal),
      await write([shown], signal),
      await write([transactionOf(3)], signal),
    ];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    expect(other).toEqual(first);
  });

  it('a large transaction is written again for each answer: a cache counts its cells alone', async () => {
    const write = createTransactionWriter<object>(form);
    const shown = transactionOf(1, largest);
    const [[first], [again]] = [await write([shown], signal), await write([shown], signal)];
    expect(first!.parts.join('').length).toBeGreaterThan(SMALL_LETTERS);
    expect(again).not.toBe(first);
    expect(again!.parts.join('')).toBe(first!.parts.join(''));
  });

  it('messages that share a large body are written in turns with other work, and refused above 32 MiB', async () => {
    const write = createTransactionWriter<object>(form);
    const turns = await turnsDuring(async () => {
      await expect(write([transactionOf(255, largest)], signal)).rejects.toMatchObject({
        code: 'answer_too_large',
        message: 'the answer is larger than 32 MiB: ask for less',
      });
    });
    // Some 90 messages of a millisecond, four of them at once.
    expect(turns).toBeGreaterThan(20);
  });

  it('many transactions are refused above 32 MiB, also those that are written already', async () => {
    const write = createTransactionWriter<object>(form);
    const usual = transactionOf(40);
    const [one] = await write([usual], signal);
    const count = Math.floor((32 * 1024 * 1024) / one!.parts.join('').length);
    const fitting = Array.from({ length: count }, () => usual);
    expect(await write(fitting, signal)).toHaveLength(count);
    await expect(write([...fitting, usual, usual], signal)).rejects.toMatchObject({ code: 'answer_too_large' });
  });

  it('an ended request ends the writing', async () => {
    const ended = AbortSignal.abort(new Error('the caller is gone'));
    await expect(createTransactionWriter<object>(form)([transactionOf(1)], ended)).rejects.toThrow('gone');
  });
});
