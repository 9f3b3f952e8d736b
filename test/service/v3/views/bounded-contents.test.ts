import { Address } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import { indexedMarks } from '#service/v3/rendering/assemble-transaction.ts';
import { bytesOfContents, type MessageView } from '#service/v3/views/message-views.ts';
import { openMessages, type ShownTransaction } from '#service/v3/views/transaction-views.ts';
import { largeCell } from '#test/support/many-cells.ts';
import { sending } from '#test/support/simulated-chain.ts';

const MEBIBYTE = 1024 * 1024;
const MESSAGES = 60;

const to = new Address(0, Buffer.alloc(32, 0xb0));
const table = parseBoc(sending(MESSAGES, largeCell(2000), () => to));
const shown: ShownTransaction = {
  table,
  transaction: readTransaction(table, table.roots[0]!),
  hash: Buffer.alloc(32),
  workchain: 0,
  shard: 0n,
  seqno: 1,
  mcSeqno: 1,
  traceId: Buffer.alloc(32),
  globalVersion: 11,
  ...indexedMarks,
};

const viewed = (contentsMax?: number): readonly MessageView[] => [
  ...openMessages(shown, createCellStore(), contentsMax).sent,
];
const sum = (views: readonly MessageView[]): number => views.reduce((bytes, view) => bytes + bytesOfContents(view), 0);

describe('messages of a transaction that share a large body', () => {
  it('have all of it without a bound, and up to their bound with one', () => {
    const whole = viewed();
    expect(sum(whole)).toBeGreaterThan(19 * MEBIBYTE);
    const some = viewed(2 * MEBIBYTE);
    expect(sum(some)).toBeGreaterThan(2 * MEBIBYTE);
    expect(sum(some)).toBeLessThan(2.5 * MEBIBYTE);
    const full = some.filter((view) => view.message_content !== null);
    expect(full).toEqual(whole.slice(0, full.length));
  });

  it('are shown with all their other fields behind the bound', () => {
    const whole = viewed();
    const some = viewed(0);
    expect(some).toHaveLength(MESSAGES);
    expect(some.slice(1)).toEqual(whole.slice(1).map((view) => ({ ...view, message_content: null, init_state: null })));
  });
});
